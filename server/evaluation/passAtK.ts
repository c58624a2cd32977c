/** Held-out measures: pure functions from counts of right answers. */
import type { EvaluationReport } from "../seams.ts";

/**
 * Unbiased estimate of the chance that one of k samples is right, from c right of n drawn:
 * 1 − C(n−c, k)/C(n, k), as a product that neither overflows nor cancels.
 * Source: Evaluating Large Language Models Trained on Code.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (!(
    Number.isInteger(n) &&
    Number.isInteger(c) &&
    Number.isInteger(k) &&
    c >= 0 &&
    c <= n &&
    k >= 1 &&
    k <= n
  )) {
    throw new RangeError(
      `pass@k needs 0 ≤ c ≤ n and 1 ≤ k ≤ n as whole numbers, and got n = ${n}, c = ${c}, k = ${k}`,
    );
  }
  if (n - c < k) return 1;
  if (k === 1) return c / n;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** What evaluation saw of one held-out task. */
export interface EvaluatedTask {
  readonly arm: string;
  /** Success of each sampled answer that could be scored. */
  readonly samples: readonly boolean[];
  /** Success of the greedy answer; undefined where it was not asked for or could not be scored. */
  readonly greedy?: boolean | undefined;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function passes(
  tasks: readonly EvaluatedTask[],
  ks: readonly number[],
  prefix: string,
  into: Record<string, number>,
): void {
  for (const k of ks) {
    // A task with fewer scored samples than k (errors) says nothing of pass@k.
    const known = tasks.filter(({ samples }) => samples.length >= k);
    if (known.length > 0)
      into[`${prefix}pass@${k}`] = mean(
        known.map(({ samples }) => passAtK(samples.length, samples.filter(Boolean).length, k)),
      );
  }
}

/** `eval/pass@k`, `eval/greedy`, and per arm `eval/<arm>/pass@k` and `eval/<arm>/greedy`. */
export function evaluationReport(tasks: readonly EvaluatedTask[], ks: readonly number[]): EvaluationReport {
  const metrics: Record<string, number> = {};
  const greedy = (of: readonly EvaluatedTask[], name: string): void => {
    const known = of.flatMap(({ greedy: right }) => (right === undefined ? [] : [right ? 1 : 0]));
    if (known.length > 0) metrics[name] = mean(known);
  };
  passes(tasks, ks, "eval/", metrics);
  greedy(tasks, "eval/greedy");
  for (const arm of [...new Set(tasks.map((task) => task.arm))].sort()) {
    const own = tasks.filter((task) => task.arm === arm);
    passes(own, ks, `eval/${arm}/`, metrics);
    greedy(own, `eval/${arm}/greedy`);
  }
  return { metrics, tasks: tasks.length };
}
