/** Keeps mean ± standard deviation inside what a reward can be. Pure. */
import type { PlotValue, Spread } from "../../shared/columns.ts";

const known = (values: readonly PlotValue[]): number[] =>
  values.filter((value): value is number => value !== null && !Number.isNaN(value));

/**
 * Mean ± deviation, cut to the lowest and highest reward of the step where these are recorded. Of older logs to what the
 * moments allow: no mean is negative, then nothing says that a reward can be; and values between 0 and 1 have a variance of
 * at most mean · (1 − mean), so a run in which that holds throughout is taken to lie there.
 */
export function withinPossible(
  mean: readonly PlotValue[],
  std: readonly PlotValue[],
  min: readonly PlotValue[],
  max: readonly PlotValue[],
): Spread {
  const means = known(mean);
  const least = means.every((value) => value >= 0) ? 0 : Number.NEGATIVE_INFINITY;
  const most = means.every((value, i) => value >= 0 && value <= 1 && fits(value, std[i] ?? 0))
    ? 1
    : Number.POSITIVE_INFINITY;
  const at = (values: readonly PlotValue[], i: number, otherwise: number): number => {
    const value = values[i] ?? Number.NaN;
    return Number.isNaN(value) ? otherwise : value;
  };
  const around = (cut: (middle: number, deviation: number, i: number) => number): PlotValue[] =>
    mean.map((middle, i) => {
      const deviation = std[i] ?? null;
      return middle === null || deviation === null ? null : cut(middle, deviation, i);
    });
  return {
    low: around((middle, deviation, i) => Math.max(middle - deviation, at(min, i, least))),
    high: around((middle, deviation, i) => Math.min(middle + deviation, at(max, i, most))),
  };
}

/** Whether values in [0, 1] can have this mean and deviation; a few in a hundred more, as of a small sample. */
const fits = (mean: number, deviation: number): boolean => deviation ** 2 <= mean * (1 - mean) * 1.15 + 1e-6;
