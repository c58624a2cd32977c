/** A run's forecast as numbers that can be sent, and the sentences that people read. */
import { formatFraction, formatNumber, formatSeconds, plural } from "../lib/format.ts";
import type { Band } from "./forecast.ts";

export interface Ahead {
  readonly steps: number;
  /** null: no step was timed. */
  readonly seconds: number | null;
  readonly score: Band;
  /** Against now. */
  readonly gain: Band;
}

export interface ForecastReport {
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
}

/** The curve itself: at every place what it is there. */
export interface ForecastCourse {
  /** As the run numbers them; those after the run's last value are to come. */
  readonly steps: readonly number[];
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

/** With its curve from the first value on, as far as it is planned or asked to go. */
export interface CourseReport extends ForecastReport {
  readonly run: string;
  /** Steps of the first value and of the last. */
  readonly first: number;
  readonly last: number;
  readonly values: number;
  readonly course: ForecastCourse;
}

/** As far as its curve is drawn. */
export const aheadOf = ({ planned, further }: ForecastReport): Ahead => planned ?? further;

/** "Forecast: pass@1 ends at 52 % [47 %, 61 %]. 60 steps more, 3 h: +4.0 ± 2.0 points, to 49 % [46 %, 51 %]. Bands of 80 %." */
export function forecastSentence(report: ForecastReport): string {
  const { metric, asymptote, planned } = report;
  const ahead = aheadOf(report);
  const { steps, seconds, gain, score } = ahead;
  const time = seconds === null ? "" : `, ${formatSeconds(seconds)}`;
  const when = planned === null ? "more" : "to the planned end";
  return `Forecast: ${nameOf(metric)} ends at ${banded(asymptote, metric)}. ${plural(steps, "step")} ${when}${time}: ${gained(gain, metric)}, to ${banded(score, metric)}. Bands of 80 %.`;
}

const isShare = (metric: string): boolean => metric.startsWith("eval/");
const nameOf = (metric: string): string => (isShare(metric) ? metric.slice("eval/".length) : metric);

export const scoreText = (value: number, metric: string): string =>
  isShare(metric) ? formatFraction(value, 1) : formatNumber(value);

/** "52.0 % [47.0 %, 61.0 %]". */
export const banded = ({ low, middle, high }: Band, metric: string): string =>
  `${scoreText(middle, metric)} [${scoreText(low, metric)}, ${scoreText(high, metric)}]`;

/** "+4.0 ± 2.0 points": half of the band's width. */
function gained({ low, middle, high }: Band, metric: string): string {
  const sign = middle < 0 ? "−" : "+";
  const [size, half] = [Math.abs(middle), (high - low) / 2];
  return isShare(metric)
    ? `${sign}${(100 * size).toFixed(1)} ± ${(100 * half).toFixed(1)} points`
    : `${sign}${formatNumber(size)} ± ${formatNumber(half)}`;
}
