/** What happened when, along the axis that all lanes share: rows of marks that can be pressed, and the labels of the steps. */
import { isAlarm, plainText, verdictMarks, type Verdict } from "../../../shared/run/verdict.ts";
import { button, element, setShown, setText } from "../../shared/dom.ts";
import { roving } from "../../shared/roving.ts";
import type { Gutters } from "../../shared/gutters.ts";
import { ticksOf, type XAxis } from "../../shared/xAxis.ts";
import type { PanelEvent, PanelFacts } from "../../../shared/editor/runPanel.ts";
import type { CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import type { RunView } from "../models.ts";

export interface EventsView extends RunView {
  readonly events: readonly PanelEvent[];
  readonly verdict: Verdict | null;
}
export const viewOf = (
  { run, evaluations, turnover, forecast, events = [], verdict = null }: PanelFacts,
  series: RunView["series"],
  overview: CurriculumOverview | null,
): EventsView => ({ run, evaluations, turnover, forecast, events, verdict, series, overview });

export interface TimelineEvent {
  readonly step: number;
  readonly text: string;
  /** Its own, where it is not that of its row. */
  readonly mark?: string;
  /** Something is wrong from here on. */
  readonly alarm?: boolean;
}
export interface EventRow {
  readonly kind: "verdicts" | "alarms" | "settings" | "evaluations" | "checkpoints" | "attempts";
  readonly mark: string;
  readonly events: readonly TimelineEvent[];
}

/** Rows that have something in them, the most serious first. Pure. */
export function eventRows({ run, evaluations, events, verdict }: EventsView): readonly EventRow[] {
  const spans = verdict?.timeline ?? [];
  const rows: readonly EventRow[] = [
    {
      kind: "verdicts",
      mark: "◈",
      events: spans.map(({ from, label, state }) => ({
        step: from,
        text: `${isAlarm(state) ? "alarm" : "verdict"}: ${plainText(label)}`,
        mark: verdictMarks[state],
        alarm: isAlarm(state),
      })),
    },
    {
      kind: "alarms",
      mark: "▲",
      events: events
        .filter(({ severity }) => severity !== "info")
        .map(({ step, message }) => ({ step: Math.max(0, step), text: message })),
    },
    {
      kind: "settings",
      mark: "✎",
      events: events
        .filter(({ setting }) => setting === true)
        .map(({ step, message }) => ({ step: Math.max(0, step), text: message })),
    },
    {
      kind: "evaluations",
      mark: "●",
      events: evaluations.map(({ step, metrics }) => ({
        step,
        text: `evaluation${metrics["eval/pass@1"] === undefined ? "" : `, pass@1 ${(100 * metrics["eval/pass@1"]).toFixed(1)} %`}`,
      })),
    },
    {
      kind: "checkpoints",
      mark: "◆",
      events: run.checkpoints.map(({ step }) => ({ step, text: "checkpoint" })),
    },
    {
      kind: "attempts",
      mark: "↻",
      events: (run.attempts ?? []).map(({ attempt, from }) => ({
        step: from,
        text: `attempt ${attempt + 1} continues from here`,
      })),
    },
  ];
  return rows.filter((row) => row.events.length > 0);
}

/** Marks closer than this, in CSS pixels, are one. */
const reach = 11;

/** Neighbours that would cover one another, as one: where it lies, and what is there. Pure. */
export function clusters(
  events: readonly TimelineEvent[],
  xOf: (step: number) => number,
): readonly { readonly x: number; readonly events: readonly TimelineEvent[] }[] {
  const found: { x: number; events: TimelineEvent[] }[] = [];
  for (const event of [...events].sort((a, b) => a.step - b.step)) {
    const x = xOf(event.step);
    const last = found.at(-1);
    if (last !== undefined && x - last.x < reach) last.events.push(event);
    else found.push({ x, events: [event] });
  }
  return found;
}

const words: Readonly<Record<EventRow["kind"], string>> = {
  verdicts: "Verdicts",
  alarms: "Warnings",
  settings: "Settings",
  evaluations: "Evaluations",
  checkpoints: "Checkpoints",
  attempts: "Attempts",
};
const mostListed = 6;
const labelRoom = 72;
/** CSS pixels of the names of the rows, and the width from which on there is room for them. */
const [namesRoom, namesFrom] = [88, 480];

export class EventsLane {
  readonly root = element("div", { class: "events", role: "group", "aria-label": "Events of the run" });
  readonly #rows = element("div", { class: "event-rows" });
  readonly #axis = element("div", { class: "ticks", "aria-hidden": "true" });
  readonly #needle = element("div", { class: "needle", "aria-hidden": "true", hidden: true });
  /** What the mark is that is pointed at, or has the focus. */
  readonly #said = element("p", { class: "event-said", "aria-hidden": "true", hidden: true });
  #cursor: number | null = null;
  #drawn = "";
  #redraw: () => void = () => undefined;
  #place: (step: number | null) => void = () => undefined;

  constructor(
    private readonly gutters: Gutters,
    private readonly pinned: (step: number) => void,
  ) {
    this.root.append(this.#axis, this.#rows, this.#needle, this.#said);
    for (const kind of ["mouseover", "focusin"])
      this.#rows.addEventListener(kind, ({ target }) => this.#say(target));
    for (const kind of ["mouseleave", "focusout"]) this.#rows.addEventListener(kind, () => this.#say(null));
    new ResizeObserver(() => this.#redraw()).observe(this.root);
  }

  update(view: EventsView, range: readonly [number, number], axis: XAxis): void {
    const rows = eventRows(view);
    this.#redraw = () => this.#draw(rows, view.run.stages, range, axis);
    this.#redraw();
  }
  #say(target: EventTarget | null): void {
    const mark = target instanceof HTMLElement && target.classList.contains("event") ? target : null;
    setText(this.#said, mark?.getAttribute("aria-label") ?? "");
    setShown(this.#said, mark !== null);
  }
  redraw(): void {
    this.#redraw();
  }
  setCursor(step: number | null): void {
    this.#cursor = step;
    this.#place(step);
  }

  #draw(
    rows: readonly EventRow[],
    stages: RunView["run"]["stages"],
    [from, to]: readonly [number, number],
    axis: XAxis,
  ): void {
    if (this.root.clientWidth >= namesFrom) this.gutters.need("left", namesRoom);
    const width = this.root.clientWidth - this.gutters.left - this.gutters.right;
    if (width <= 0) return;
    const [low, high] = [axis.of(from), axis.of(to)];
    const place = (x: number): number => ((x - low) / Math.max(1e-12, high - low)) * width;
    const xOf = (step: number): number => place(axis.of(step));
    this.#place = (step) => {
      this.#needle.hidden = step === null || step < from || step > to;
      if (step !== null) this.#needle.style.left = `${this.gutters.left + xOf(step)}px`;
    };
    this.#place(this.#cursor);
    const seen = rows.map((row) => ({
      ...row,
      events: row.events.filter(({ step }) => step >= from && step <= to),
    }));
    const signature = JSON.stringify([seen, stages, low, high, axis.name, width, this.gutters.left]);
    if (signature === this.#drawn) return;
    this.#drawn = signature;
    this.root.style.setProperty("--left", `${this.gutters.left}px`);
    this.root.style.setProperty("--right", `${this.gutters.right}px`);
    const at = (node: HTMLElement, x: number): HTMLElement => {
      node.style.left = `${x}px`;
      return node;
    };
    const ticks = ticksOf(low, high, width / labelRoom, axis.least).map((tick) =>
      at(element("span", {}, axis.format(tick)), place(tick)),
    );
    this.#axis.replaceChildren(element("b", {}, axis.name), ...ticks);
    const named = stages.filter(({ step }, i) => (stages[i + 1]?.step ?? to + 1) > from && step <= to);
    this.#rows.replaceChildren(
      ...(named.length > 1 || stages.length > 1
        ? [
            element(
              "div",
              { class: "event-row stages" },
              element("span", { class: "row-name" }, "Stages"),
              ...named.map(({ step, name }) =>
                at(element("span", { class: "stage" }, name), Math.max(0, xOf(step))),
              ),
            ),
          ]
        : []),
      ...seen.filter(({ events }) => events.length > 0).map((row) => this.#row(row, xOf, at)),
    );
  }

  #row(
    { kind, mark, events }: EventRow,
    xOf: (step: number) => number,
    at: (node: HTMLElement, x: number) => HTMLElement,
  ): HTMLElement {
    const marks = clusters(events, xOf).map(({ x, events: here }) => {
      const listed = here.slice(0, mostListed).map(({ step, text }) => `step ${step}: ${text}`);
      const more = here.length > mostListed ? [`and ${here.length - mostListed} more`] : [];
      const tip = [...listed, ...more].join("\n");
      const worst = here.findLast(({ alarm }) => alarm === true) ?? here.at(-1);
      return at(
        button(
          worst?.mark ?? mark,
          {
            class: "event",
            "aria-label": tip,
            ...(worst?.alarm === true && { "data-alarm": "true" }),
            ...(here.length > 1 && { "data-several": "true" }),
          },
          () => this.pinned(here[0]!.step),
        ),
        x,
      );
    });
    const own = element(
      "div",
      { class: "event-row", "data-kind": kind, role: "group", "aria-label": words[kind] },
      element("span", { class: "row-name", "aria-hidden": "true" }, words[kind]),
      ...marks,
    );
    roving(own).settle();
    return own;
  }
}
