/** Lanes above one another that share one axis: what happened, and what the run's numbers did meanwhile. */
import type { ChartId } from "../../../shared/editor/runPanel.ts";
import { Chart } from "../../shared/chart.ts";
import type { ChartModel } from "../../shared/chartModel.ts";
import { button, element, setShown, setText } from "../../shared/dom.ts";
import { Gutters } from "../../shared/gutters.ts";
import type { Theme } from "../../shared/theme.ts";
import type { XAxis } from "../../shared/xAxis.ts";
import { charts } from "../charts.ts";
import { Constants, constants } from "../constants.ts";
import type { ChartDefinition } from "../models.ts";
import { populationOf } from "../populations.ts";
import { EventsLane, type EventsView } from "./events.ts";
import { information } from "./information.ts";
import type { Scale } from "./scale.ts";

type ChartEvents = ConstructorParameters<typeof Chart>[1];
interface TimelineEvents {
  readonly chart: (id: string) => ChartEvents;
  readonly pinned: (step: number) => void;
  /** Lanes are opened or folded: they have to be drawn. */
  readonly changed: () => void;
}

/** A lane comes before those that tell less; what a person looks for first comes first among those that tell as much. */
const rankOf = (definition: ChartDefinition, model: ChartModel, range: readonly [number, number]): number =>
  definition.id === "reward" ? Number.POSITIVE_INFINITY : information(model, range);

export class Timeline {
  readonly root = element("section", { class: "timeline", "aria-label": "Timeline" });
  readonly head = element("div", { class: "timeline-head" });
  readonly charts: readonly Chart[];
  readonly #events: EventsLane;
  readonly #lanes = element("div", { class: "lane-list" });
  readonly #more: HTMLButtonElement;
  readonly #constants: Constants;
  readonly #gutters: Gutters;
  /** What is rarely looked at is drawn too. */
  #opened = false;
  /** Lanes in which nothing changes are drawn too. */
  #unfolded = false;
  #ranked = false;
  #waiting = false;

  constructor(
    private readonly callbacks: TimelineEvents,
    theme: Theme,
  ) {
    this.#gutters = new Gutters(() => this.#align());
    this.#events = new EventsLane(this.#gutters, callbacks.pinned);
    this.charts = charts
      .filter(({ place }) => place !== "learning")
      .map(({ id, title }) => new Chart({ id, title, theme, gutters: this.#gutters }, callbacks.chart(id)));
    this.#constants = new Constants((unfolded) => {
      this.#unfolded = unfolded;
      callbacks.changed();
    });
    this.#more = button("", { class: "quiet edge more", "aria-expanded": "false" }, () => {
      this.#opened = !this.#opened;
      callbacks.changed();
    });
    this.#lanes.append(...this.charts.map((chart) => chart.root));
    this.root.append(this.head, this.#events.root, this.#lanes, this.#constants.root, this.#more);
  }

  /** Ranks its lanes again at the next update: not while a run goes on, when they would change places under the eye. */
  reorder(): void {
    this.#ranked = false;
  }

  update(
    view: EventsView,
    range: readonly [number, number],
    { axis, scale, cursor }: { readonly axis: XAxis; readonly scale: Scale; readonly cursor: number | null },
  ): void {
    const marks = view.run.stages.map(({ step, name }) => ({ step, name }));
    const folded: string[] = [];
    const ranks = new Map<Chart, number>();
    let more = 0;
    for (const chart of this.charts) {
      const definition = definitionOf(chart.id);
      const hidden = definition.place === "more" && !this.#opened;
      const model = definition.model(view);
      if (!this.#ranked) ranks.set(chart, rankOf(definition, model, range));
      const still = definition.steady === true ? null : constants(definition.title, model);
      if (still !== null && !this.#unfolded) folded.push(still);
      const moves = still === null && (model.empty === null || definition.steady === true);
      if (definition.place === "more" && moves) more++;
      setShown(chart.root, still === null ? moves && !hidden : this.#unfolded);
      if (!chart.root.hidden) chart.update(scale.apply(model), marks, range, axis);
      chart.setPopulation(definition.over === undefined ? null : populationOf(definition.over, view, cursor));
    }
    if (!this.#ranked) this.#rank(ranks);
    this.#events.update(view, range, axis);
    this.#constants.show(folded, this.#unfolded);
    setShown(this.#more, more > 0);
    setText(this.#more, this.#opened ? "Fewer Lanes" : `More Lanes (${more})`);
    this.#more.setAttribute("aria-expanded", String(this.#opened));
  }

  setCursor(step: number | null, view: EventsView | null): void {
    for (const chart of this.charts) {
      if (chart.root.hidden) continue;
      chart.setCursor(step);
      const { over } = definitionOf(chart.id);
      if (over !== undefined && view !== null) chart.setPopulation(populationOf(over, view, step));
    }
    this.#events.setCursor(step);
  }
  setTheme(theme: Theme): void {
    for (const chart of this.charts) chart.setTheme(theme);
  }

  /** Draws a lane that is folded or not among those shown. */
  reveal(id: ChartId): void {
    const definition = definitionOf(id);
    if (definition.place === "more") this.#opened = true;
    this.#unfolded = true;
    this.callbacks.changed();
  }

  /** The order of the document, so that of the Tab key too. */
  #rank(ranks: ReadonlyMap<Chart, number>): void {
    this.#ranked = true;
    const place = (chart: Chart): number => (definitionOf(chart.id).place === "more" ? 1 : 0);
    const order = [...this.charts].sort(
      (one, other) => place(one) - place(other) || (ranks.get(other) ?? 0) - (ranks.get(one) ?? 0),
    );
    const now = [...this.#lanes.children];
    if (order.every((chart, i) => chart.root === now[i])) return;
    this.#lanes.append(...order.map((chart) => chart.root));
  }

  /** Once a frame, whatever asks for it: one lane needs more room, so all of them move. */
  #align(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      for (const chart of this.charts) chart.redraw();
      this.#events.redraw();
    });
  }
}

const definitionOf = (id: string): ChartDefinition => charts.find((chart) => chart.id === id)!;
