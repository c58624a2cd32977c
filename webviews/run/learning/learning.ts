/** Whether it learns, next to each other: what its reward is made of, and what it can do on tasks that never train. */
import { forecastSentence } from "../../../shared/run/forecastReport.ts";
import { Chart } from "../../shared/chart.ts";
import type { ChartModel } from "../../shared/chartModel.ts";
import { element, setShown } from "../../shared/dom.ts";
import type { Theme } from "../../shared/theme.ts";
import type { XAxis } from "../../shared/xAxis.ts";
import { charts } from "../charts.ts";
import type { RunView } from "../models.ts";
import { populationOf } from "../populations.ts";

/** Where the run's end is in view, so is what is expected to follow. */
const reaching = (
  { steps, until }: ChartModel,
  [from, to]: readonly [number, number],
): readonly [number, number] =>
  until === undefined || to < until ? [from, to] : [from, Math.max(to, steps.at(-1) ?? to)];

const definitions = charts.filter(({ place }) => place === "learning");

export class LearningCharts {
  readonly root = element("section", { class: "learning", "aria-label": "Learning" });
  readonly charts: readonly Chart[];

  constructor(events: (id: string) => ConstructorParameters<typeof Chart>[1], theme: Theme) {
    this.charts = definitions.map(({ id, title }) => new Chart({ id, title, theme }, events(id)));
    this.root.append(...this.charts.map((chart) => chart.root));
  }

  update(view: RunView, range: readonly [number, number], x: XAxis, cursor: number | null): void {
    const marks = view.run.stages.map(({ step, name }) => ({ step, name }));
    definitions.forEach((definition, i) => {
      const chart = this.charts[i]!;
      const model = definition.model(view);
      setShown(chart.root, definition.optional !== true || model.empty === null);
      chart.update(model, marks, reaching(model, range), x);
      if (definition.id === "heldOut")
        chart.setNote(view.forecast === undefined ? null : forecastSentence(view.forecast));
    });
    this.#populations(view, cursor);
  }

  setCursor(step: number | null, view: RunView | null): void {
    for (const chart of this.charts) chart.setCursor(step);
    if (view !== null) this.#populations(view, step);
  }
  setTheme(theme: Theme): void {
    for (const chart of this.charts) chart.setTheme(theme);
  }

  #populations(view: RunView, step: number | null): void {
    definitions.forEach(({ over }, i) =>
      this.charts[i]!.setPopulation(over === undefined ? null : populationOf(over, view, step)),
    );
  }
}
