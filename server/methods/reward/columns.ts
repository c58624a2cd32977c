/** Arithmetic on reward columns. */
import { status, type RewardColumn, type Rewards } from "../../core/reward.ts";

/** A row's reward: the sum of its values; those that don't exist (NaN) add nothing. */
export function rowSum({ offsets, values }: RewardColumn, row: number): number {
  let sum = 0;
  for (let i = offsets[row]!; i < offsets[row + 1]!; i++) if (!Number.isNaN(values[i]!)) sum += values[i]!;
  return sum;
}

export const weighted = (term: RewardColumn, weight: number): RewardColumn => ({
  ...term,
  values: term.values.map((value) => weight * value),
});

/** 1 where a term of non-zero weight failed. */
export function failedRows({ terms, weights }: Rewards, rows: number): Uint8Array {
  const failed = new Uint8Array(rows);
  terms.forEach((term, i) => {
    if (weights[i] === 0) return;
    for (let row = 0; row < rows; row++) if (term.status[row] === status.error) failed[row] = 1;
  });
  return failed;
}

/** Totals as one term of the response. */
export const oneTerm = (name: string, total: Float64Array, errored: Uint8Array): RewardColumn => ({
  name,
  level: "response",
  status: Uint8Array.from(total, (value, row) =>
    errored[row] === 1 ? status.error : Number.isNaN(value) ? status.none : status.value,
  ),
  offsets: Int32Array.from({ length: total.length + 1 }, (_, i) => i),
  values: total,
  errors: new Map(),
});
