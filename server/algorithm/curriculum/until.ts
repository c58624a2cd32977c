/** When a stage ends before its steps: `until: { metric, above | below, window, patience, min_delta, mode }`, or `any` or `all` of several. */
import type { Condition, Until } from "../../core/blocks/stage.ts";

/** Values of each metric that a stage's end rests on, in this stage, oldest first. */
export type Histories = Readonly<Record<string, readonly number[]>>;

/** Whether one of the conditions holds, or all of them at once. */
export function ends({ of, conditions }: Until, seen: Histories): boolean {
  const holds = (condition: Condition): boolean => isMet(condition, seen[condition.metric] ?? []);
  return of === "any" ? conditions.some(holds) : conditions.every(holds);
}

/** Why the stage ended, as a clause: the condition that held, or all of them. */
export function whyEnded({ of, conditions }: Until, seen: Histories): string {
  const held = conditions.filter((condition) => isMet(condition, seen[condition.metric] ?? []));
  const named = of === "any" ? held.slice(0, 1) : held;
  return named.map((condition) => whyMet(condition, seen[condition.metric] ?? [])).join(", and ");
}

/** Why it did not end, as a clause: the values of the conditions that do not hold. */
export function whyNot({ conditions }: Until, seen: Histories): string {
  const open = conditions.filter((condition) => !isMet(condition, seen[condition.metric] ?? []));
  return open.map((condition) => whyUnmet(condition, seen[condition.metric] ?? [])).join(", and ");
}

/** What is seen with one more step or evaluation; as much is kept as the conditions can look back on. */
export function seenWith(
  { conditions }: Until,
  seen: Histories,
  metrics: Readonly<Record<string, number>>,
): Histories {
  const more = Object.entries(metrics).flatMap(([metric, value]) => {
    const own = conditions.filter((condition) => condition.metric === metric);
    if (own.length === 0 || Number.isNaN(value)) return [];
    const longest = Math.max(...own.map(lookedBack));
    return [[metric, [...(seen[metric] ?? []), value].slice(-longest)] as const];
  });
  return { ...seen, ...Object.fromEntries(more) };
}

/** How many values a condition looks back on; a plateau looks back on the whole stage. */
const lookedBack = ({ above, below, window, patience }: Condition): number =>
  above === undefined && below === undefined ? Number.MAX_SAFE_INTEGER : window + (patience ?? 1);

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

/** Why it does not hold, as a clause. */
function whyUnmet(condition: Condition, history: readonly number[]): string {
  const { metric, above, below, window, patience } = condition;
  const mean = windowMean(history, window);
  if (mean === undefined)
    return `${metric} has ${history.length} of the ${window} values that its window needs`;
  if (above === undefined && below === undefined)
    return `${metric} reached its best less than ${patience} values ago`;
  return `${measured(metric, window)} is ${short(mean)}, not ${boundsOf(condition)}`;
}

const measured = (metric: string, window: number): string =>
  window === 1 ? metric : `the mean of ${metric} over ${window} values`;

function boundsOf({ above, below, patience }: Pick<Condition, "above" | "below" | "patience">): string {
  const bounds = [
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(below === undefined ? [] : [`below ${below}`]),
  ];
  return `${bounds.join(" and ")}${(patience ?? 1) > 1 ? `, ${patience} values in a row` : ""}`;
}

/** Why it holds, as a clause. */
export function whyMet(condition: Condition, history: readonly number[]): string {
  const { metric, above, below, window, patience, min_delta, mode } = condition;
  const what = measured(metric, window);
  if (above === undefined && below === undefined) {
    const { best } = plateau(condition, history);
    const more = min_delta > 0 ? ` by more than ${min_delta}` : "";
    return `${what} has not ${mode === "max" ? "risen above" : "fallen below"} its best, ${short(best)},${more} for ${patience} values`;
  }
  return `${what} is ${short(windowMean(history, window) ?? NaN)}, ${boundsOf(condition)}`;
}
