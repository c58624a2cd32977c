/** A run that is evaluated every ten steps of its training, on a sigmoid that bends at a planted place. */
import { courseOf, runForecast } from "../../server/analysis/forecast/runForecast.ts";
import type { PanelEvaluation, ToPanel } from "../../shared/editor/runPanel.ts";
import type { CourseReport } from "../../shared/run/forecastReport.ts";
import { numberStream } from "./random.ts";
import { evaluated, show, training, warmUp } from "./fakeRun.ts";

const noise = numberStream(5);
/** From 20 % to 55 %, half way at step 40, plus noise of an evaluation. */
const rates = Array.from({ length: 13 }, (_, i) => {
  const x = 10 * i + 1;
  return 0.2 + 0.35 / (1 + (40 / x) ** 2) + 0.008 * noise();
});

export const evaluationsTo = (last: number): readonly PanelEvaluation[] =>
  rates.flatMap((pass, i) => {
    const step = Math.min(warmUp + 10 * i, warmUp + training - 1);
    return step > last
      ? []
      : [{ step, role: "periodic" as const, tasks: 128, ...evaluated(pass, pass + 0.08) }];
  });

/** As the daemon answers: 90 seconds a step. */
export function forecastAt(last: number): CourseReport | undefined {
  const evaluations = evaluationsTo(last);
  const asked = {
    metric: "eval/pass@1",
    steps: evaluations.map(({ step }) => step),
    values: evaluations.map(({ metrics }) => metrics["eval/pass@1"] ?? null),
    seconds: [90],
    left: warmUp + training - 1 - (evaluations.at(-1)?.step ?? 0),
    more: 60,
  };
  const found = runForecast(asked);
  if (found === undefined) return undefined;
  const { curve: _, ...report } = found;
  return { run: "one", ...report, course: courseOf(found, asked) };
}

export function forecast(last: number): ToPanel {
  const report = forecastAt(last);
  return {
    ...show(last, last === warmUp + training - 1 ? { status: "finished" } : {}),
    evaluations: evaluationsTo(last),
    ...(report && { forecast: report }),
  };
}
