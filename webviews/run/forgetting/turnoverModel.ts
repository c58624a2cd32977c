/** Held-out tasks that are right at each evaluation, and those that were right before and are not: as a chart. Pure. */
import type { ChartModel } from "../../shared/chartModel.ts";
import { charted, line, type RunView } from "../models.ts";

export function turnoverModel(view: RunView): ChartModel {
  const course = view.turnover?.course ?? [];
  const points = { style: "points", format: "number" } as const;
  const lines = [
    line(
      { name: "right", tone: "good", dash: 0, ...points },
      course.map(({ right }) => right),
    ),
    line(
      { name: "right before, and lost", tone: "bad", dash: 1, ...points },
      course.map(({ lost }) => lost),
    ),
  ];
  const most = Math.max(1, ...course.flatMap(({ right, lost }) => [right, lost]));
  return charted(view, "turnover of held-out tasks", { steps: course.map(({ step }) => step) }, lines, [
    0,
    1.1 * most,
  ]);
}
