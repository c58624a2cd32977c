/** pass@k of one task, and how sure a mean over tasks is. Pure. */
import { wilson } from "../lib/proportions.ts";
import type { TaskResults } from "./taskResults.ts";

/**
 * Unbiased estimate of the chance that one of k samples is right, from c right of n drawn:
 * 1 − C(n−c, k)/C(n, k), as a product that neither overflows nor cancels.
 * Source: Evaluating Large Language Models Trained on Code.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (
    !(
      Number.isInteger(n) &&
      Number.isInteger(c) &&
      Number.isInteger(k) &&
      c >= 0 &&
      c <= n &&
      k >= 1 &&
      k <= n
    )
  ) {
    throw new RangeError(
      `pass@k needs 0 ≤ c ≤ n and 1 ≤ k ≤ n as whole numbers, but got n = ${n}, c = ${c}, k = ${k}`,
    );
  }
  if (n - c < k) return 1;
  if (k === 1) return c / n;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** The normal distribution's quantile at 0.975. */
const z = 1.959964;

/**
 * 95 % interval of the mean of values in [0, 1], one a task. Tasks are drawn, samples of one task are not independent: so
 * the spread is that of the tasks. Wilson's interval with as many trials n as give that spread, m(1 − m)/n = s²/tasks,
 * stays within [0, 1], and at 0 or 1 has a width, that of n = tasks.
 * Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
 * @returns undefined for fewer than 2 values
 */
export function meanInterval(values: readonly number[]): readonly [low: number, high: number] | undefined {
  const count = values.length;
  if (count < 2) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const { low, high } = wilson(mean, variance > 0 ? (mean * (1 - mean) * count) / variance : count, z);
  return [low, high];
}

/** Of each task its value of the metric (`eval/pass@<k>`, `eval/greedy`); undefined where it says nothing of it. */
export function taskValues(
  { samples, right, greedy }: TaskResults,
  metric: string,
): readonly (number | undefined)[] {
  if (metric === "eval/greedy") return greedy.map((value) => value ?? undefined);
  const k = Number(/^eval\/pass@(\d+)$/.exec(metric)?.[1] ?? Number.NaN);
  return samples.map((count, i) => (count >= k ? passAtK(count, right[i] ?? 0, k) : undefined));
}

/** By metric, how sure it is; those that the results say nothing of are left out. */
export function passIntervals(
  metrics: readonly string[],
  results: TaskResults,
): Readonly<Record<string, readonly [low: number, high: number]>> {
  return Object.fromEntries(
    metrics.flatMap((metric) => {
      const interval = meanInterval(taskValues(results, metric).filter((value) => value !== undefined));
      return interval === undefined ? [] : [[metric, interval] as const];
    }),
  );
}
