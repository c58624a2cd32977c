/** Fast samplers that take the arms of least cost. */
import { smallest } from "../../../lib/ordering.ts";
import type { ArmClasses, ArmPool, FastSampler, Reading } from "../../../core/slots/fastArms.ts";
import { classColumns, type Columns } from "./columns.ts";

/**
 * The first `n` open arms of the classes of least cost, ties by the arms' numbers.
 * @param cost by class; NaN: left out
 */
export function cheapestArms(classes: ArmClasses, cost: ArrayLike<number>, n: number): number[] {
  const found: number[] = [];
  const order = smallest(classes.size, n, (of) => (classes.open[of] === 0 ? Number.NaN : cost[of]!));
  for (const of of order) {
    const closed = new Set(classes.closed(of));
    for (let position = 0; position < classes.arms[of]! && found.length < n; position++)
      if (!closed.has(position)) found.push(classes.member(of, position));
  }
  return found;
}

/** The first `n` of an iterable that may be very long. */
export function firstOf(arms: Iterable<number>, n: number): number[] {
  const found: number[] = [];
  for (const arm of arms) {
    if (found.length >= n) break;
    found.push(arm);
  }
  return found;
}

/** All the chance for one arm; none where there is no arm. */
export function certain({ size }: ArmPool, arm: number | undefined): Float64Array {
  const shares = new Float64Array(size);
  if (arm !== undefined) shares[arm] = 1;
  return shares;
}

/**
 * The `n` open arms of least cost where each comes at most once a step, else the best one `n` times.
 * @param cost by class
 * @param rank the cost of an estimate, where it depends on nothing else
 */
export function taking(
  reads: readonly Reading[],
  cost: (columns: Columns) => Float64Array,
  rank?: (estimate: number) => number,
): FastSampler {
  const best = (pool: ArmPool, n: number): number[] => {
    const ordered = pool.inOrder?.();
    if (ordered !== undefined) return firstOf(ordered, n);
    const columns = classColumns(pool);
    return cheapestArms(columns.classes, cost(columns), n);
  };
  return {
    classes: { reads, ...(rank === undefined ? {} : { rank }) },
    probabilities: (pool) => certain(pool, best(pool, 1)[0]),
    draw: (pool, n) => {
      if (pool.once) return best(pool, n);
      const [arm] = best(pool, 1);
      return arm === undefined ? [] : Array<number>(n).fill(arm);
    },
  };
}

/** Unknown arms cost least. */
export const costOf = (merit: number): number => (Number.isNaN(merit) ? Number.NEGATIVE_INFINITY : -merit);
