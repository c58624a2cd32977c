/** Two evaluations whose pass@k crosses: B is surer of what it solves, A solves more with many samples. */
import { boundaryOf } from "../../server/analysis/evaluation/boundaryReport.ts";
import { courseOf, runForecast } from "../../server/analysis/forecast/runForecast.ts";
import { randomStream } from "../../server/lib/random.ts";
import { compareVersion, type PanelForecasts, type ToCompare } from "../../shared/editor/comparePanel.ts";
import type { TaskResults } from "../../shared/run/taskResults.ts";

const tasks = 64;
const results = (rightOf: (task: number) => number, greedyOf: (task: number) => boolean): TaskResults => {
  const all = Array.from({ length: tasks }, (_, task) => task);
  return {
    tasks: all.map((task) => (task === 0 ? "t" : `countdown:${task}=24`)),
    arms: all.map((task) => (task % 2 === 0 ? "easy" : "hard")),
    samples: all.map(() => 8),
    right: all.map(rightOf),
    greedy: all.map((task) => Number(greedyOf(task))),
  };
};
/** A: 40 tasks now and then; B: 24 of these nearly always, and two of its own. */
export const before = results(
  (task) => (task < 40 ? 2 : 0),
  (task) => task < 20,
);
export const trained = results(
  (task) => (task >= 16 && task < 40 ? 7 : task >= 40 && task < 42 ? 3 : 0),
  (task) => task >= 12 && task < 40,
);

const evaluations = [
  ...[0, 19, 39].map((step) => ({ run: "base-1", step })),
  ...[0, 29].map((step) => ({ run: "brief-1", step })),
];

function forecasts(): PanelForecasts {
  const found = [0.6, 0.45].map((end, i) => {
    const steps = Array.from({ length: 30 }, (_, step) => step);
    const values = steps.map(
      (step) => 0.1 + (end - 0.1) / (1 + (8 / (step + 1)) ** 2) + 0.01 * Math.sin(7 * step + i),
    );
    const asked = { metric: "reward/total", steps, values, seconds: [2], left: 0 };
    return { asked, forecast: runForecast(asked)! };
  });
  return {
    forecasts: found.map(({ asked, forecast: { curve: _, ...report } }, i) => ({
      run: ["base-1", "brief-1"][i]!,
      ...report,
      course: courseOf(found[i]!.forecast, asked),
    })),
    firstEndsHigher: [null, found[0]!.forecast.curve.above(found[1]!.forecast.curve)],
  };
}

export const boundaryMessage = (own = trained, other = before): ToCompare => ({
  version: compareVersion,
  type: "boundary",
  report: {
    own: { run: "brief-1", step: 29 },
    other: { run: "base-1", step: 39 },
    evaluations,
    ...boundaryOf(own, other, randomStream(1, "bootstrap")),
  },
  forecasts: forecasts(),
});
