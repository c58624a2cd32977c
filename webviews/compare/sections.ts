/** Parts of the page that compares runs: its groups, what differs, held-out results, arms, answers to the same tasks. */
import { formatFraction, formatNumber } from "../../shared/lib/format.ts";
import type { TaskPair } from "../../shared/editor/comparePanel.ts";
import type { Comparison } from "../../shared/run/comparison.ts";
import { groupLetter, heldOutSentence } from "../../shared/run/comparisonText.ts";
import { button, element } from "../shared/dom.ts";
import { folded, listed } from "../shared/folded.ts";
import { groupOrder, leadingGroups } from "./leading.ts";
import { differenceRows, type DifferenceRow } from "./models.ts";

const [mostSentences, mostValues, mostChoices] = [12, 8, 12];

const heading = (text: string, id: string): HTMLElement => element("h2", { id }, text);
const section = (id: string, title: string, ...children: readonly Node[]): HTMLElement =>
  element("section", { class: "part", "aria-labelledby": id }, heading(title, id), ...children);

export function heldOutSection(found: Comparison): HTMLElement {
  const leading = leadingGroups(found);
  const first = (group: number): number =>
    leading.includes(group) ? leading.indexOf(group) : leading.length;
  // Of many groups the best come first, as in the list of groups.
  const results = [...found.heldOut].sort((one, other) => first(one.group) - first(other.group));
  const lines = results.map((one) =>
    element(
      "li",
      { "data-sure": one.low > 0 ? "more" : one.high < 0 ? "fewer" : "open" },
      heldOutSentence(one),
    ),
  );
  const none = "At least two of the runs need a held-out evaluation for that.";
  return section(
    "held-out",
    "Held-out tasks at the last evaluations",
    lines.length === 0
      ? element("p", { class: "muted" }, none)
      : element("ul", { class: "sentences" }, ...listed(folded("sentences", lines, mostSentences))),
    element(
      "p",
      { class: "muted" },
      "In brackets the 95 % interval of the difference over tasks; it does not cover what other seeds would have done.",
    ),
  );
}

export interface DifferenceActions {
  readonly diff: (row: DifferenceRow) => void;
  readonly diffConfigs: (runs: readonly [string, string], resolved: boolean) => void;
}

export function differencesSection(found: Comparison, actions: DifferenceActions): HTMLElement {
  const rows = differenceRows(found);
  const [first, other] = [found.runs[0], found.runs[found.groups[1]?.runs[0] ?? 1]];
  const whole =
    first === undefined || other === undefined
      ? []
      : [
          element(
            "p",
            { class: "actions" },
            button("Diff Configs", {}, () => actions.diffConfigs([first.id, other.id], false)),
            button("Diff Resolved Configs", {}, () => actions.diffConfigs([first.id, other.id], true)),
          ),
        ];
  if (rows.length === 0)
    return section(
      "differences",
      "What differs",
      element("p", {}, "Nothing but the seed and the name."),
      ...whole,
    );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        row.about === "" ? "" : element("span", { class: "badge" }, row.about),
        row.name,
      ),
      element(
        "td",
        {},
        ...folded(
          row.name,
          row.values.map(({ who, text, note }) =>
            element(
              "div",
              { class: "value" },
              element("span", { class: "who" }, who),
              element("code", {}, text),
              note === "" ? "" : element("span", { class: "muted" }, note),
            ),
          ),
          mostValues,
        ),
      ),
      element(
        "td",
        {},
        row.about === "package" || row.about === "program"
          ? ""
          : button("Diff", { class: "quiet", "aria-label": `Diff ${row.name}` }, () => actions.diff(row)),
      ),
    ),
  );
  return section(
    "differences",
    "What differs: sources, then configs",
    element("table", { class: "differences" }, element("tbody", {}, ...body)),
    ...whole,
  );
}

export function armsSection(found: Comparison): HTMLElement {
  const { arms } = found;
  const leading = leadingGroups(found);
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "arm"),
    ...leading.map((at) => element("th", { scope: "col" }, groupLetter(at))),
  );
  const rows = arms.map(({ arm, values }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, arm),
      ...leading.map((at) => element("td", {}, formatFraction(values[at] ?? null, 1))),
    ),
  );
  const made = section(
    "arms",
    "pass@1 by arm",
    element(
      "div",
      { class: "wrap", tabindex: 0, role: "region", "aria-label": "pass@1 by arm, table" },
      element("table", { class: "arms" }, element("thead", {}, head), element("tbody", {}, ...rows)),
    ),
  );
  made.hidden = arms.length === 0;
  return made;
}

export interface TaskActions {
  readonly choose: (other: number) => void;
  readonly open: (key: string) => void;
}

/** Tasks on which the answers earned most differently come first. */
export function tasksSection(
  found: Comparison,
  other: number,
  pairs: readonly TaskPair[] | undefined,
  { choose, open }: TaskActions,
): HTMLElement {
  const order = groupOrder(found);
  const choices = order
    .slice(1)
    .map((at) =>
      button(
        `A and ${groupLetter(at)}`,
        { class: "quiet", "aria-pressed": String(at === other), title: found.groups[at]!.label },
        () => choose(at),
      ),
    );
  const rows = (pairs ?? []).map(({ key, prompt, rewards, responses }) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        button(shortened(prompt), { class: "quiet link", title: prompt }, () => open(key)),
      ),
      ...responses.map((response, side) =>
        element(
          "td",
          {},
          element("code", {}, shortened(response)),
          element("b", {}, formatNumber(rewards[side] ?? null)),
        ),
      ),
    ),
  );
  const shown =
    pairs === undefined
      ? element("p", { class: "muted", role: "status" }, "Reading answers…")
      : rows.length === 0
        ? element("p", { class: "muted" }, "These runs have no recorded answer to the same held-out task.")
        : element(
            "table",
            { class: "tasks" },
            element(
              "thead",
              {},
              element(
                "tr",
                {},
                ...["task", "A", groupLetter(other)].map((name) => element("th", { scope: "col" }, name)),
              ),
            ),
            element("tbody", {}, ...rows),
          );
  const made = section(
    "tasks",
    "The same tasks, answered by the first run of each",
    element(
      "div",
      { class: "choices", role: "group", "aria-label": "Groups" },
      ...folded("choices", choices, Math.max(mostChoices, order.indexOf(other))),
    ),
    shown,
  );
  made.hidden = found.groups.length < 2;
  return made;
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line === "" ? "(empty)" : line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
