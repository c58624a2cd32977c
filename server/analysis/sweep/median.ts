/**
 * The median rule of Vizier (Golovin et al., 2017, "Google Vizier: A Service for Black-Box Optimization"), with the grace
 * period and the number of other runs of Ray Tune's MedianStoppingRule. Pure.
 */
import { mean } from "../../../shared/lib/mean.ts";
import { quantile } from "../../../shared/lib/quantile.ts";

/** An evaluation of a run. */
export interface SweepPoint {
  /** Made before it. */
  readonly steps: number;
  readonly value: number;
}
type Course = readonly SweepPoint[];

interface StopRule {
  readonly after: number;
  readonly trials: number;
  readonly better: "max" | "min";
}

/** Why a run is to be stopped. */
export interface WorseThanMedian {
  readonly steps: number;
  readonly best: number;
  readonly median: number;
  /** The other runs that came as far. */
  readonly others: number;
}

/**
 * A run is stopped at step t where its best value so far is worse than the median, over the other runs that came to t, of the
 * mean of their values from `after` to t.
 * @param own in order; the last is the latest
 */
export function worseThanMedian(
  own: Course,
  others: readonly Course[],
  { after, trials, better }: StopRule,
): WorseThanMedian | undefined {
  const steps = own.at(-1)?.steps;
  if (steps === undefined || steps < after) return undefined;
  const means = others.flatMap((course) => meanUpTo(course, after, steps));
  if (means.length < trials) return undefined;
  const median = quantile(Float64Array.from(means).sort(), 0.5);
  const values = own.map(({ value }) => value);
  const best = better === "max" ? Math.max(...values) : Math.min(...values);
  const worse = better === "max" ? best < median : best > median;
  return worse ? { steps, best, median, others: means.length } : undefined;
}

/** None of a run that has not come as far. */
function meanUpTo(course: Course, after: number, steps: number): readonly number[] {
  if ((course.at(-1)?.steps ?? -1) < steps) return [];
  const counted = course.filter((point) => point.steps >= after && point.steps <= steps);
  return counted.length === 0 ? [] : [mean(counted.map(({ value }) => value))];
}
