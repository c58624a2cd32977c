/** When a stage ends before its steps: `until: { metric, above | below, window, patience }`. */
import type { Condition } from "../config/resolved.ts";

/** Mean of the last `window` values of a metric; undefined until there are as many. */
export const windowMean = (history: readonly number[], window: number): number | undefined =>
  history.length < window
    ? undefined
    : history.slice(-window).reduce((sum, value) => sum + value, 0) / window;

/**
 * Whether the condition holds: the windowed mean beyond its bound or, with `patience` and no bound, no new best for
 * that many values (`patience` together with a bound asks the bound to hold that many values in a row).
 * @param history the metric's values in this stage, oldest first; steps without a value are left out
 */
export function isMet(condition: Condition, history: readonly number[]): boolean {
  const { above, below, window, patience } = condition;
  if (above === undefined && below === undefined)
    return patience !== undefined && hasPlateaued(history, window, patience);
  const holds = (upTo: number): boolean => {
    const mean = windowMean(history.slice(0, upTo), window);
    return (
      mean !== undefined && (above === undefined || mean > above) && (below === undefined || mean < below)
    );
  };
  const times = patience ?? 1;
  return Array.from({ length: times }, (_, back) => history.length - back).every(
    (upTo) => upTo > 0 && holds(upTo),
  );
}

/** The best windowed mean is more than `patience` values old. */
function hasPlateaued(history: readonly number[], window: number, patience: number): boolean {
  const means = history.flatMap((_, i) => windowMean(history.slice(0, i + 1), window) ?? []);
  if (means.length <= patience) return false;
  const best = means.reduce((at, mean, i) => (mean > means[at]! ? i : at), 0);
  return means.length - 1 - best >= patience;
}
