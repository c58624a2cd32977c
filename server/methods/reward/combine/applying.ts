/** Weighted values of the terms that apply to a row, for combiners that make one number of them. */
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type Rewards } from "../../../core/reward.ts";
import { failedRows, oneTerm, rowSum } from "../columns.ts";

/** One reward a row of the weighted values of its terms; terms of weight 0 are left out, and rows without a term have none. */
export function oneOf(
  name: string,
  { terms, weights }: Rewards,
  batch: Batch,
  made: (values: readonly number[]) => number,
): Combined {
  const errored = failedRows({ terms, weights }, batch.rows);
  const total = Float64Array.from({ length: batch.rows }, (_, row) => {
    const values = terms.flatMap((term, i) =>
      weights[i] !== 0 && term.status[row] === status.value ? [weights[i]! * rowSum(term, row)] : [],
    );
    return errored[row] === 1 || values.length === 0 ? Number.NaN : made(values);
  });
  return { sources: [oneTerm(name, total, errored)], total, errored };
}
