/** Where a run is going, in numbers that a person decides by. Pure. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { forecast, type Band, type Forecast } from "../../../shared/run/forecast.ts";

export interface ForecastAsk {
  readonly metric: string;
  /** Steps with a value, ascending, and the values; null: not finite. */
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
  /** Seconds of the latest steps. */
  readonly seconds: readonly number[];
  /** Steps that are to come until the run's planned end. */
  readonly left: number;
  /** Further steps that are asked about; default: as many as it has made. */
  readonly more?: number | undefined;
}

export interface RunForecast {
  readonly metric: string;
  /** Steps that were looked at. */
  readonly made: number;
  readonly asymptote: Band;
  readonly efficiency: Band;
  /** The step at which half of the way is done. */
  readonly midpoint: Band;
  /** The score at the last step. */
  readonly now: Band;
  /** At the planned end; null: the run is there. */
  readonly planned: Ahead | null;
  /** After further steps. */
  readonly further: Ahead;
  readonly curve: Forecast;
}

export interface Ahead {
  readonly steps: number;
  /** null: no step was timed. */
  readonly seconds: number | null;
  readonly score: Band;
  /** Against now. */
  readonly gain: Band;
}

/** @returns undefined: there are too few values, or all are the same */
export function runForecast({
  metric,
  steps,
  values,
  seconds,
  left,
  more,
}: ForecastAsk): RunForecast | undefined {
  const known = steps.flatMap((step, i) => {
    const y = values[i] ?? null;
    return y === null ? [] : [{ step, y }];
  });
  const [first, last] = [known[0]?.step ?? 0, known.at(-1)?.step ?? 0];
  const made = last - first + 1;
  const curve = forecast(
    known.map(({ step, y }) => ({ x: step - first + 1, y })),
    rangeOf(
      metric,
      known.map(({ y }) => y),
    ),
  );
  if (curve === undefined) return undefined;
  const pace = meanOrNull(seconds);
  const ahead = (count: number): Ahead => ({
    steps: count,
    seconds: pace === null ? null : pace * count,
    score: curve.at(made + count),
    gain: curve.gain(made, made + count),
  });
  const { asymptote, efficiency, midpoint } = curve;
  return {
    ...{ metric, made, asymptote, efficiency, midpoint, curve },
    now: curve.at(made),
    planned: left > 0 ? ahead(left) : null,
    further: ahead(more ?? made),
  };
}

/** Of a share it is known; values that all lie in [0, 1] are taken to be one. */
function rangeOf(metric: string, values: readonly number[]): readonly [number, number] | undefined {
  const declared = metricNamed(metric)?.range;
  if (declared !== undefined) return declared;
  return values.every((value) => value >= 0 && value <= 1) ? [0, 1] : undefined;
}
