/** Draws without and with replacement. */
import { firstWhere } from "../../../../shared/lib/firstWhere.ts";
import type { Random } from "../../../lib/random.ts";
import type { ReplayDrawn } from "../../../core/slots/replay.ts";

/** `n` of `indices`, each at most once, all equally likely: a partial Fisher–Yates shuffle. */
export function withoutReplacement(indices: readonly number[], n: number, random: Random): number[] {
  const pool = [...indices];
  const wanted = Math.min(n, pool.length);
  for (let i = 0; i < wanted; i++) {
    const j = i + random.integer(pool.length - i);
    [pool[i], pool[j]] = [pool[j]!, pool[i]!];
  }
  return pool.slice(0, wanted);
}

/** `n` indices, each drawn with probability weights[i] / Σ weights. Empty where no weight is positive. */
export function withReplacement(weights: Float64Array, n: number, random: Random): number[] {
  const cumulative = new Float64Array(weights.length);
  let sum = 0;
  weights.forEach((weight, i) => (cumulative[i] = sum += weight));
  if (!(sum > 0)) return [];
  return Array.from({ length: n }, () => {
    const at = random.next() * sum;
    return firstWhere(cumulative.length - 1, (index) => cumulative[index]! > at);
  });
}

export const unweighted = (indices: readonly number[]): ReplayDrawn[] =>
  indices.map((index) => ({ index, weight: 1 }));
