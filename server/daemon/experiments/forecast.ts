/** Where scores of recorded runs are going: their courses and their pace from the store. */
import { stepClocks } from "../../../shared/metrics/timeMetrics.ts";
import type { ParamsOf, ResultOf, runsForecast } from "../../../shared/protocol/protocol.ts";
import { stepsMade, stepsPlanned } from "../../../shared/run/origin.ts";
import type { ComparedStore } from "./compare.ts";
import type { AskedRun, Experimenter } from "./experiment.ts";

/** Latest steps whose pace is taken to go on. */
const paced = 50;

export async function forecasts(
  store: Pick<ComparedStore, "show" | "series">,
  { runs, metric, more }: ParamsOf<typeof runsForecast>,
  experiment: Experimenter,
): Promise<ResultOf<typeof runsForecast>> {
  const asked: AskedRun[] = [];
  for (const run of runs) asked.push({ ...(await courseIn(store, run, metric)), more });
  return experiment<"forecast">({ kind: "forecast", runs: asked });
}

async function courseIn(
  store: Pick<ComparedStore, "show" | "series">,
  run: string,
  metric: string,
): Promise<AskedRun> {
  const detail = await store.show({ run });
  const metrics = [metric, ...stepClocks];
  const { series } = await store.series({ run, metrics, from: -1, maxPoints: 20_000 });
  const pace = stepClocks.flatMap((name) => series.find((one) => one.metric === name) ?? [])[0];
  const { steps = [], values = [] } = series.find((one) => one.metric === metric) ?? {};
  return {
    ...{ run, metric, steps, values },
    seconds: (pace?.values.slice(-paced) ?? []).filter((value) => value !== null),
    // From the last value on: of evaluations it lies back.
    left: Math.max(
      0,
      (stepsPlanned(detail) ?? 0) - stepsMade({ ...detail, step: steps.at(-1) ?? detail.step }),
    ),
  };
}
