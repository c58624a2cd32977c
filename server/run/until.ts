/** When a stage ends before its steps: `until: { metric, above | below, window, patience, min_delta, mode }`. */
import type { Condition } from "../config/resolved.ts";

/** Mean of the last `window` values of a metric; undefined until there are as many. */
export const windowMean = (history: readonly number[], window: number): number | undefined =>
  history.length < window
    ? undefined
    : history.slice(-window).reduce((sum, value) => sum + value, 0) / window;

/**
 * Whether the condition holds: the windowed mean beyond its bound or, with `patience` and no bound, no improvement on
 * the best by more than `min_delta` for that many values (`patience` together with a bound asks the bound to hold that
 * many values in a row).
 * @param history the metric's values in this stage, oldest first; steps without a value are left out
 */
export function isMet(condition: Condition, history: readonly number[]): boolean {
  const { above, below, window, patience } = condition;
  if (above === undefined && below === undefined)
    return patience !== undefined && plateau(condition, history).age >= patience;
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

/** The best windowed mean, where each best is better than the one before by more than `min_delta`, and its age in values. */
function plateau(
  { window, min_delta, mode }: Condition,
  history: readonly number[],
): { readonly best: number; readonly age: number } {
  const sign = mode === "max" ? 1 : -1;
  const means = history.flatMap((_, i) => windowMean(history.slice(0, i + 1), window) ?? []);
  let at = 0;
  means.forEach((mean, i) => {
    if (sign * (mean - means[at]!) > min_delta) at = i;
  });
  return { best: means[at] ?? NaN, age: Math.max(0, means.length - 1 - at) };
}

const short = (value: number): string => String(Number(value.toPrecision(4)));

/** Why it holds, as a clause. */
export function whyMet(condition: Condition, history: readonly number[]): string {
  const { metric, above, below, window, patience, min_delta, mode } = condition;
  const what = window === 1 ? metric : `the mean of ${metric} over ${window} values`;
  if (above === undefined && below === undefined) {
    const { best } = plateau(condition, history);
    const more = min_delta > 0 ? ` by more than ${min_delta}` : "";
    return `${what} has not ${mode === "max" ? "risen above" : "fallen below"} its best, ${short(best)},${more} for ${patience} values`;
  }
  const bounds = [
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(below === undefined ? [] : [`below ${below}`]),
  ];
  const times = (patience ?? 1) > 1 ? `, ${patience} values in a row` : "";
  return `${what} is ${short(windowMean(history, window) ?? NaN)}, ${bounds.join(" and ")}${times}`;
}
