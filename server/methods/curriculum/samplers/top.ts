/** Samplers that take what is best by some number. */
import { smallest } from "../../../lib/ordering.ts";
import type { Known, Sampler, Classes, Reading } from "../../../core/slots/curriculum.ts";
import { classesOf, Columns } from "./columns.ts";

/**
 * The first `n` open arms of the classes of least cost; of equal ones by their numbers.
 * @param cost NaN: left out
 */
export function cheapestArms(classes: Classes, cost: ArrayLike<number>, n: number): number[] {
  const found: number[] = [];
  const order = smallest(classes.size, n, (of) => (classes.open[of] === 0 ? Number.NaN : cost[of]!));
  for (const of of order) {
    const closed = new Set(classes.closed(of));
    for (let place = 0; place < classes.arms[of]! && found.length < n; place++)
      if (!closed.has(place)) found.push(classes.member(of, place));
  }
  return found;
}

/** The first `n` of what may be very many. */
export function firstOf(arms: Iterable<number>, n: number): number[] {
  const found: number[] = [];
  for (const arm of arms) {
    if (found.length >= n) break;
    found.push(arm);
  }
  return found;
}

/**
 * The `n` open arms of least cost where each comes once a step, else the best one `n` times.
 * @param cost by class
 * @param rank where the cost is that of the value alone: of a value
 */
export function taking(
  reads: readonly Reading[],
  cost: (columns: Columns) => Float64Array,
  rank?: (value: number) => number,
): Sampler {
  const best = (known: Known, n: number): number[] => {
    const ordered = known.inOrder?.();
    if (ordered !== undefined) return firstOf(ordered, n);
    const classes = classesOf(known);
    return cheapestArms(classes, cost(new Columns(known, classes)), n);
  };
  return {
    reads,
    ...(rank === undefined ? {} : { rank }),
    probabilities: (known) => {
      const shares = new Float64Array(known.size);
      for (const arm of best(known, 1)) shares[arm] = 1;
      return shares;
    },
    draw: (known, n) => {
      if (known.once) return best(known, n);
      const [arm] = best(known, 1);
      return arm === undefined ? [] : Array<number>(n).fill(arm);
    },
  };
}

/** What nobody has looked at costs less than everything. */
export const costOf = (merit: number): number => (Number.isNaN(merit) ? Number.NEGATIVE_INFINITY : -merit);
