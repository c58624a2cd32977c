/** Drawing in proportion. */
import type { Random } from "../../lib/random.ts";

/** exp(score / temperature) before normalisation: the largest is 1. */
export function softmax(scores: readonly number[], temperature: number): number[] {
  const most = scores.reduce((so_far, score) => Math.max(so_far, score), Number.NEGATIVE_INFINITY);
  return scores.map((score) => Math.exp((score - most) / temperature));
}

/** The place of one weight, drawn in proportion. @param weights one of them at least above 0 */
export function proportional(weights: readonly number[], random: Random): number {
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  const at = weights.findIndex((weight) => (left -= weight) < 0);
  // Rounding may leave a little over.
  return at === -1 ? weights.findLastIndex((weight) => weight > 0) : at;
}
