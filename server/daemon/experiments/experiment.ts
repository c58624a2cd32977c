/** What takes a moment of computing: forecasts that are fitted, and tasks that are drawn again. Pure. */
import type { ResultOf, runsForecast } from "../../../shared/protocol/protocol.ts";
import type { BoundaryReport } from "../../../shared/run/boundaryReport.ts";
import type { CourseReport } from "../../../shared/run/forecastReport.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import { boundaryOf } from "../../analysis/evaluation/boundaryReport.ts";
import {
  courseOf,
  runForecast,
  type ForecastAsk,
  type RunForecast,
} from "../../analysis/forecast/runForecast.ts";
import { randomStream } from "../../lib/random.ts";

export interface AskedRun extends ForecastAsk {
  readonly run: string;
}

export type Experiment =
  | { readonly kind: "forecast"; readonly runs: readonly AskedRun[] }
  | { readonly kind: "boundary"; readonly own: TaskResults; readonly other: TaskResults };
/** By the kind of question. */
export interface Outcomes {
  readonly forecast: ResultOf<typeof runsForecast>;
  readonly boundary: Pick<BoundaryReport, "boundary" | "greedy">;
}

interface Found {
  readonly asked: AskedRun;
  readonly forecast: RunForecast | undefined;
}

function forecasts(asked: readonly AskedRun[]): Outcomes["forecast"] {
  const found = asked.map((one): Found => ({ asked: one, forecast: runForecast(one) }));
  const first = found[0]?.forecast;
  return {
    forecasts: found.map(reportOf),
    firstEndsHigher: found.map(({ forecast }, i) =>
      i === 0 || first === undefined || forecast === undefined ? null : first.curve.above(forecast.curve),
    ),
  };
}

function reportOf({ asked, forecast }: Found): CourseReport | null {
  if (forecast === undefined) return null;
  const { curve: _, ...report } = forecast;
  return { run: asked.run, ...report, course: courseOf(forecast, asked) };
}

/** Computes an answer, here or elsewhere. */
export type Experimenter = <Kind extends Experiment["kind"]>(
  asked: Extract<Experiment, { readonly kind: Kind }>,
) => Promise<Outcomes[Kind]>;

export function outcome(asked: Experiment): Outcomes[Experiment["kind"]] {
  switch (asked.kind) {
    case "forecast":
      return forecasts(asked.runs);
    case "boundary":
      return boundaryOf(asked.own, asked.other, randomStream(0, "bootstrap"));
  }
}

/** Where nobody else waits for this thread. */
export const here: Experimenter = async (asked) => outcome(asked) as Outcomes[(typeof asked)["kind"]];
