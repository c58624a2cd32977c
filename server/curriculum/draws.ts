import type { Arm, Estimates, Random } from "../seams.ts";

/** Independent draws from a distribution over arms. */
export function drawFrom(probabilities: ReadonlyMap<Arm, number>, n: number, random: Random): Arm[] {
  const arms = [...probabilities];
  return Array.from({ length: n }, () => {
    let left = random.next();
    for (const [arm, p] of arms) {
      left -= p;
      if (left < 0) return arm;
    }
    // Rounding can leave a sliver: it belongs to the last arm that can be drawn.
    return arms.findLast(([, p]) => p > 0)?.[0] ?? arms[0]?.[0] ?? "";
  });
}

/** Arms of which nothing is known count as the best known, so that each is tried; all unknown: all equal. */
export function optimistic(estimates: Estimates): Map<Arm, number> {
  const known = [...estimates.values()].filter((value) => value !== undefined);
  const best = known.length === 0 ? 0 : Math.max(...known);
  return new Map([...estimates].map(([arm, value]) => [arm, value ?? best]));
}

/** Scales non-negative weights to sum 1; all zero: uniform. */
export function normalised(weights: ReadonlyMap<Arm, number>): Map<Arm, number> {
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  return new Map([...weights].map(([arm, weight]) => [arm, sum > 0 ? weight / sum : 1 / weights.size]));
}
