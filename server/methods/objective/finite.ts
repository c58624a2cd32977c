import { UserError } from "../../../shared/lib/errors.ts";
import type { Batch } from "../../core/rollouts.ts";

/** A number that no loss can be made of, at a token that trains: which rollout, which token, what to do. */
export function notFinite(what: string, value: number, batch: Batch, token: number): UserError {
  const row = batch.offsets.findLastIndex((offset) => offset <= token);
  const record = batch.records[row];
  const rollout = record === undefined ? `row ${row}` : `${record.group}#${record.index}`;
  return new UserError(
    `${what} is ${value} at token ${token - batch.offsets[row]!} of rollout ${rollout}, which trains`,
    {
      code: "value-not-finite",
      action: "Mask that token, or leave the rollout out: a finite number is needed wherever a token trains.",
    },
  );
}

/** @throws UserError where a token that trains has a value in the column that is not finite */
export function checkFinite(what: string, column: Float64Array, weights: Float64Array, batch: Batch): void {
  for (let t = 0; t < weights.length; t++)
    if (weights[t] !== 0 && !Number.isFinite(column[t]!)) throw notFinite(what, column[t]!, batch, t);
}

/**
 * A loss that is not finite comes from a column: the first of them that is not finite where a token trains is named.
 * Columns that an objective does without are undefined.
 */
export function checkLoss(
  loss: number,
  { weights, batch }: { readonly weights: Float64Array; readonly batch: Batch },
  columns: Readonly<Record<string, Float64Array | undefined>>,
): void {
  if (Number.isFinite(loss)) return;
  for (const [what, column] of Object.entries(columns))
    if (column !== undefined) checkFinite(what, column, weights, batch);
}
