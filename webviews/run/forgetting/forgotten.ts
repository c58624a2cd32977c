/** Held-out tasks that the run had right and lost: which, when, what it answered then, and what to do about it. */
import type { PanelForgotten, PanelTurnover } from "../../../shared/editor/panelTurnover.ts";
import { formatCount, plural } from "../../../shared/lib/format.ts";
import { button, element, setShown } from "../../shared/dom.ts";
import { folded, listed } from "../../shared/folded.ts";

interface ForgottenEvents {
  /** The last right answer and the first wrong one. */
  readonly compared: (task: string) => void;
  /** The task at every evaluation. */
  readonly followed: (task: string) => void;
  readonly reviewed: () => void;
}

/** Rows at first; arms that are named. */
const [mostRows, mostArms] = [6, 8];

export class ForgottenTasks {
  readonly root = element("section", { class: "forgotten", "aria-labelledby": "forgotten-title" });
  #drawn = "";

  constructor(private readonly events: ForgottenEvents) {
    setShown(this.root, false);
  }

  /** Rebuilt only where it says something else: a button that is replaced under the finger loses focus. */
  update(found: PanelTurnover | undefined): void {
    const signature = JSON.stringify(found ?? null);
    if (signature === this.#drawn) return;
    this.#drawn = signature;
    setShown(this.root, found !== undefined);
    if (found === undefined) return;
    this.root.replaceChildren(
      element("h2", { id: "forgotten-title" }, titleOf(found)),
      element("p", { class: "muted" }, sumOf(found)),
      ...(found.forgotten === 0 ? [] : [this.#review(found), this.#list(found)]),
    );
  }

  #review({ arms }: PanelTurnover): HTMLElement {
    const lost = arms.filter(({ forgotten }) => forgotten > 0);
    const named = lost
      .slice(0, mostArms)
      .map(({ arm, forgotten, tasks }) => `${arm} ${forgotten} of ${tasks}`);
    const more = lost.length > mostArms ? [`and ${plural(lost.length - mostArms, "more arm")}`] : [];
    return element(
      "div",
      { class: "review" },
      button("Review These", { class: "secondary" }, () => this.events.reviewed()),
      element(
        "p",
        { class: "muted" },
        `Adds a stage to the config, every other step of which draws only from the arms that forgot most: other tasks of them, never held-out ones. Forgotten by arm: ${[...named, ...more].join(", ")}.`,
      ),
    );
  }

  #list({ listed: tasks, forgotten }: PanelTurnover): HTMLElement {
    const rows = tasks.map((task) => this.#row(task));
    const left = forgotten - tasks.length;
    const rest =
      left === 0
        ? []
        : [element("li", { class: "muted" }, `${formatCount(left)} more: gradus runs turnover lists all.`)];
    return element(
      "ul",
      { class: "tasks", "aria-label": "Forgotten tasks" },
      ...listed(folded("forgotten", [...rows, ...rest], mostRows)),
    );
  }

  #row({ task, arm, solved, lost, prompt }: PanelForgotten): HTMLElement {
    const name = shortened(prompt ?? task);
    const kept = prompt !== null;
    return element(
      "li",
      {},
      kept
        ? button(
            name,
            { class: "link task", title: task, "aria-label": `Compare the answers to ${name}` },
            () => this.events.compared(task),
          )
        : element(
            "span",
            { class: "task", title: task },
            name,
            element("span", { class: "muted" }, " answers not kept"),
          ),
      element("span", { class: "muted" }, arm),
      element(
        "span",
        { class: "when" },
        `right at step ${formatCount(solved)}, wrong at ${formatCount(lost)}`,
      ),
      button("Through Training", { class: "quiet edge", "aria-label": `${name} through training` }, () =>
        this.events.followed(task),
      ),
    );
  }
}

const titleOf = ({ forgotten }: PanelTurnover): string =>
  forgotten === 0 ? "No held-out task is forgotten" : `${plural(forgotten, "held-out task")} forgotten`;

/** "106 learned, 105 kept, 69 forgotten of 512 held-out tasks between …". */
const sumOf = ({ learned, kept, forgotten, tasks, first, last }: PanelTurnover): string =>
  `${learned} learned, ${kept} kept, ${forgotten} forgotten of ${plural(tasks, "held-out task")} between the evaluations at step ${formatCount(first)} and at step ${formatCount(last)}.`;

const longest = 72;
function shortened(text: string): string {
  const one = text.trim().replace(/\s+/g, " ");
  return one.length > longest ? `${one.slice(0, longest - 1)}…` : one;
}
