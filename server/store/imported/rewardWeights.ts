/** The weights of TRL's reward functions, which it records nowhere: from the rewards that it logged. */
import { cholesky, dot, solve } from "../../lib/algebra/linear.ts";

/** What was logged at one step. */
export interface LoggedRewards {
  /** Mean of each function, in one order. */
  readonly parts: readonly number[];
  /** Mean reward. */
  readonly total: number;
}

/** Means are computed in float32. */
const close = 2e-6;

/**
 * 1 each where that explains what was logged, which is TRL's default; else the only weights that do.
 * @returns undefined where none do: a function that did not apply to every rollout has a mean over the others
 */
export function weightsFrom(logged: readonly LoggedRewards[], count: number): readonly number[] | undefined {
  const usable = logged.filter(({ parts, total }) => [...parts, total].every(Number.isFinite));
  const ones = Array.from({ length: count }, () => 1);
  if (usable.length === 0) return ones;
  if (explains(ones, usable)) return ones;
  // As many as there are weights would be explained whatever they are.
  if (usable.length <= count) return undefined;
  const found = leastSquares(usable, count).map((weight) => Math.round(weight * 1e4) / 1e4);
  return explains(found, usable) ? found : undefined;
}

const explains = (weights: readonly number[], logged: readonly LoggedRewards[]): boolean =>
  logged.every(
    ({ parts, total }) => Math.abs(dot(weights, parts) - total) <= close * Math.max(1, Math.abs(total)),
  );

function leastSquares(logged: readonly LoggedRewards[], count: number): number[] {
  const square = new Float64Array(count * count);
  const side = new Float64Array(count);
  for (const { parts, total } of logged)
    for (let i = 0; i < count; i++) {
      side[i]! += parts[i]! * total;
      for (let j = 0; j < count; j++) square[i * count + j]! += parts[i]! * parts[j]!;
    }
  return [...solve(cholesky(square, count), side)];
}
