/** The head of the panel: which run, its status, its progress, and what can be done with it. */
import { progressText, stateWord, stepsMade, stepsPlanned } from "../../shared/run/origin.ts";
import { formatCount, formatSeconds } from "../../shared/lib/format.ts";
import type { RunStatus } from "../../shared/protocol/runStatus.ts";
import type { LinkState, PanelAction, PanelFacts } from "../../shared/editor/runPanel.ts";
import type { RunSummary } from "../../shared/protocol/protocol.ts";
import { isAlarm, type Verdict } from "../../shared/run/verdict.ts";
import { button, element, setShown, setText, unbroken, withCode } from "../shared/dom.ts";
import { FailuresView, type OpenPlace } from "./failures.ts";
import { stageAt, type RunView } from "./models.ts";
import { secondsLeft, tiles, type Tile } from "./tiles.ts";

const words: Readonly<Record<RunStatus | "watching", string>> = {
  watching: "Watching",
  starting: "Starting",
  running: "Running",
  paused: "Paused",
  stopping: "Stopping",
  finished: "Finished",
  stopped: "Stopped",
  failed: "Failed",
  interrupted: "Interrupted",
  reading: "Being Read",
};
const actionsOf: Readonly<Record<RunStatus | "watching", readonly PanelAction[]>> = {
  // Another program trains.
  watching: [],
  starting: ["stop"],
  running: ["stop", "pause"],
  paused: ["continue", "stop"],
  stopping: ["stopNow"],
  finished: [],
  stopped: ["resume"],
  failed: ["resume", "openLog"],
  interrupted: ["resume", "openLog"],
  reading: [],
};
const labels: Readonly<Partial<Record<PanelAction, string>>> = {
  stop: "Stop",
  stopNow: "Stop Now",
  pause: "Pause",
  continue: "Continue",
  resume: "Resume",
  openLog: "Open Log",
  openConfig: "Open Config",
};

export class Header {
  readonly root: HTMLElement;
  /** Its tiles, which follow the cursor, and why rewards failed. */
  readonly numbers: HTMLElement;
  readonly #name = element("h1", {});
  readonly #state = element("span", { class: "state", role: "status", "aria-live": "polite" });
  readonly #progress = element(
    "div",
    { class: "progress", role: "progressbar", "aria-label": "steps" },
    element("div", {}),
  );
  readonly #where = element("p", { class: "where" });
  readonly #identity = element("p", { class: "identity" });
  readonly #before = element("p", { class: "identity" });
  readonly #difference: HTMLButtonElement;
  readonly #actions = element("div", { class: "actions", role: "toolbar", "aria-label": "Run" });
  readonly #rollouts: HTMLButtonElement;
  readonly #config: HTMLButtonElement;
  readonly #fork: HTMLButtonElement;
  /** The step whose numbers are shown. */
  #cursor: number | undefined;
  readonly #tiles = element("dl", { class: "tiles" });
  readonly #warnings = element("ul", { class: "warnings", "aria-label": "Warnings" });
  readonly #failures: FailuresView;
  readonly #notice = element("div", { class: "notice", role: "alert" });
  #drawn = "";

  constructor(
    private readonly act: (action: PanelAction, step?: number) => void,
    openRollouts: () => void,
    openPlace: OpenPlace,
  ) {
    this.#failures = new FailuresView(openPlace, () => act("openLog"));
    this.#rollouts = button("Open Rollouts", { class: "secondary" }, openRollouts);
    this.#config = button("Open Config", { class: "secondary" }, () => act("openConfig"));
    this.#fork = button("Fork Run", { class: "secondary" }, () => act("fork", this.#cursor));
    this.#difference = button("Compare", { class: "link", title: "Compare both runs" }, () =>
      act("compareBefore"),
    );
    this.#before.append("since the run before: ", this.#difference);
    setShown(this.#before, false);
    const title = element("div", { class: "title" }, this.#name, this.#state);
    this.root = element(
      "header",
      { class: "head" },
      element("div", { class: "bar" }, title, this.#actions),
      this.#progress,
      this.#where,
      this.#identity,
      this.#before,
      this.#notice,
      this.#warnings,
    );
    this.numbers = element("section", { "aria-label": "Numbers" }, this.#tiles, this.#failures.root);
    setShown(this.#warnings, false);
    setShown(this.#notice, false);
  }

  /** @param cursor the step whose numbers are shown; null: the last ones */
  update(view: RunView, { errors, failures, before, verdict }: PanelFacts, cursor: number | null): void {
    setShown(this.#before, before !== undefined);
    setText(this.#difference, before?.text ?? "Compare");
    const { summary } = view.run;
    setText(this.#name, summary.name);
    setText(this.#state, stateText(summary));
    this.#state.dataset["status"] = summary.status;
    this.#state.dataset["warned"] = String(summary.warnings !== undefined);
    this.#showWarnings(summary, verdict ?? null);
    this.#showProgress(view);
    setText(this.#where, whereabouts(view));
    setText(this.#identity, identity(view));
    this.#showActions(stateWord(summary));
    setText(this.#rollouts, cursor === null ? "Open Rollouts" : `Rollouts of Step ${cursor}`);
    this.#cursor = cursor ?? undefined;
    setShown(this.#fork, view.run.checkpoints.length > 0);
    setText(this.#fork, cursor === null ? "Fork Run" : `Fork from Step ${cursor}`);
    this.#tiles.replaceChildren(...tiles(view, errors, failures, cursor).map(tileElement));
    this.#failures.update(failures);
    this.#showMessage(view, verdict ?? null);
  }

  /** What the run came to, in sentences: rewritten only where they change, so that they are read out once. */
  #showWarnings({ warnings = [] }: RunSummary, verdict: Verdict | null): void {
    // An alarm below says what became of held-out results, and why.
    const said = verdict !== null && isAlarm(verdict.state);
    const messages = warnings.flatMap(({ reason, message }) =>
      said && reason === "held-out-worse" ? [] : [message],
    );
    if (this.#warnings.dataset["messages"] === messages.join("\n")) return;
    this.#warnings.dataset["messages"] = messages.join("\n");
    this.#warnings.replaceChildren(...messages.map((message) => element("li", {}, ...withCode(message))));
    setShown(this.#warnings, messages.length > 0);
  }

  setLink(link: LinkState): void {
    this.root.dataset["link"] = link.state;
    if (link.state === "live") {
      if (this.#notice.dataset["about"] === "link") setShown(this.#notice, false);
      return;
    }
    const again =
      link.state === "failed"
        ? [button("Reconnect", { class: "secondary" }, () => this.act("reconnect"))]
        : [];
    this.#notify("link", link.message, again);
  }

  setGone(message: string): void {
    this.#notify("gone", message, []);
    this.#actions.replaceChildren();
  }

  #notify(about: string, message: string, children: readonly Node[]): void {
    this.#notice.dataset["about"] = about;
    this.#notice.replaceChildren(element("span", {}, message), ...children);
    setShown(this.#notice, true);
  }

  #showMessage({ run: { summary } }: RunView, verdict: Verdict | null): void {
    const announces =
      ["failed", "interrupted"].includes(summary.status) &&
      summary.message !== null &&
      summary.message !== "" &&
      // The verdict's own headline says it.
      verdict?.headline.includes(summary.message) !== true;
    if (announces) this.#notify("run", summary.message ?? "", []);
    else if (this.#notice.dataset["about"] === "run") setShown(this.#notice, false);
  }

  #showProgress({ run: { summary } }: RunView): void {
    const planned = stepsPlanned(summary);
    setShown(this.#progress, planned !== null);
    const done = planned === null ? 0 : Math.min(1, stepsMade(summary) / planned);
    this.#progress.setAttribute("aria-valuenow", String(Math.round(done * 100)));
    this.#progress.setAttribute("aria-valuetext", progressText(summary));
    const bar = this.#progress.firstElementChild;
    if (bar instanceof HTMLElement) bar.style.transform = `scaleX(${done})`;
  }

  /** Rebuilt only when the state changes: a button that is replaced under the finger loses focus. */
  #showActions(status: RunStatus | "watching"): void {
    if (this.#drawn === status) return;
    const held =
      document.activeElement instanceof HTMLElement ? document.activeElement.dataset["action"] : undefined;
    this.#drawn = status;
    const own = actionsOf[status].map((action, i) =>
      button(
        labels[action] ?? action,
        { class: i === 0 && action !== "stop" ? "primary" : "secondary", "data-action": action },
        () => this.act(action),
      ),
    );
    this.#actions.replaceChildren(...own, this.#rollouts, this.#fork, this.#config);
    if (held !== undefined)
      (own.find((one) => one.dataset["action"] === held) ?? own[0] ?? this.#rollouts).focus();
  }
}

/** "Finished, but nothing trained": a run's end says nothing of what it came to. */
function stateText(run: RunSummary): string {
  const { status, warnings = [] } = run;
  const labels = warnings.map(({ label }) => label).join(", ");
  const word = words[stateWord(run)];
  return labels === "" ? word : `${word}${status === "finished" ? ", but " : "; "}${labels}`;
}

function whereabouts(view: RunView): string {
  const { summary, evaluating } = view.run;
  const stage = summary.stage ?? stageAt(view.run, summary.step)?.name;
  const left = secondsLeft(view);
  const planned = stepsPlanned(summary);
  const parts = [
    ...(stage === undefined ? [] : [`stage ${stage}`]),
    ...(summary.step >= 0
      ? [progressText(summary)]
      : planned === null
        ? []
        : [`${formatCount(planned)} steps planned`]),
    ...(evaluating === undefined ? [] : [evaluating.replace(/\.$/, "")]),
    ...(left === null || evaluating !== undefined
      ? []
      : [`${formatSeconds(left.seconds)} left${left.of === "run" ? "" : ` of the ${left.of}`}`]),
  ];
  return parts.join("  ·  ");
}

/** What it is: id, when, how long, seed, commit, device. */
function identity({ run: { summary, seed, commit, device } }: RunView): string {
  const began = new Date(summary.startedAt);
  const ended = summary.endedAt === null ? null : new Date(summary.endedAt);
  const took = ended === null ? null : (ended.getTime() - began.getTime()) / 1000;
  const when = Number.isNaN(began.getTime())
    ? null
    : began.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return [
    summary.id,
    when,
    took === null || !(took >= 1) ? null : `took ${formatSeconds(took)}`,
    seed == null ? null : `seed ${seed}`,
    commit == null ? null : `commit ${commit}`,
    device === null || device === "" ? null : `on ${device}`,
  ]
    .filter((part) => part !== null)
    .join("  ·  ");
}

function tileElement(tile: Tile): HTMLElement {
  const note = element(
    "dd",
    { class: "note", ...(tile.tone === undefined ? {} : { "data-tone": tile.tone }) },
    unbroken(tile.note),
  );
  return element(
    "div",
    { class: "tile" },
    element("dt", {}, tile.label),
    element("dd", { class: "value" }, tile.value),
    note,
  );
}
