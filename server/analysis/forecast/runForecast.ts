/** Where a run is going, in numbers that a person decides by. Pure. */
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { forecast, type Forecast } from "../../../shared/run/forecast.ts";
import {
  aheadOf,
  type Ahead,
  type ForecastCourse,
  type ForecastReport,
} from "../../../shared/run/forecastReport.ts";

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

export interface RunForecast extends ForecastReport {
  /** Steps of the first value and of the last, and how many there are. */
  readonly first: number;
  readonly last: number;
  readonly values: number;
  readonly curve: Forecast;
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
    ...{ metric, made, asymptote, efficiency, midpoint, curve, first, last, values: known.length },
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

/** Places of the curve after the last value. */
const placesAhead = 12;
/** Before it, at the most. */
const placesBehind = 60;

/** The curve at the values that it was fitted to, and on as far as the run is planned or asked to go. */
export function courseOf(
  { first, last, curve, ...report }: RunForecast,
  { steps, values }: Pick<ForecastAsk, "steps" | "values">,
): ForecastCourse {
  const known = steps.filter((_, i) => (values[i] ?? null) !== null);
  const stride = Math.max(1, Math.ceil(known.length / placesBehind));
  const behind = known.filter((_, i) => i % stride === 0 || i === known.length - 1);
  const { steps: far } = aheadOf(report);
  const ahead = Array.from({ length: Math.min(placesAhead, far) }, (_, i) =>
    Math.round(last + (far * (i + 1)) / Math.min(placesAhead, far)),
  );
  const places = [...behind, ...ahead];
  const bands = places.map((step) => curve.at(step - first + 1));
  return {
    steps: places,
    low: bands.map(({ low }) => low),
    middle: bands.map(({ middle }) => middle),
    high: bands.map(({ high }) => high),
  };
}
