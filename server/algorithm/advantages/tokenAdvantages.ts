/** What advantages are once they are made: a number per token. */
import type { Batch } from "../../core/rollouts.ts";
import type { PerRow } from "../perRow.ts";
import type { Standardised } from "./standardised.ts";

export interface Advantages {
  /** Per token; 0 where the row has none. */
  readonly tokens: Float64Array;
  /** Per row, the mean over its trained tokens; NaN where the row has none: it does not train. */
  readonly rows: Float64Array;
  /** Per token: 1 where an advantage exists. */
  readonly exists: Uint8Array;
  /** Where the tokens of a row all have one advantage: it, without a column. */
  readonly perRow?: PerRow;
  /** Where `tokens` are not standardised before they are read: they, so that who reads a part does it there. */
  readonly late?: Standardised;
  /** Every token has one. */
  readonly everywhere?: boolean;
  /** What a value head should have said before each token, where the baseline is one that learns; NaN elsewhere. */
  readonly returns?: Float64Array;
}

/** The batch with what its value head should have said, where the advantages know it and no rollout recorded it. */
export const withReturns = (batch: Batch, { returns }: Advantages): Batch =>
  returns === undefined || batch.columns.returns !== undefined
    ? batch
    : { ...batch, columns: { ...batch.columns, returns } };

/** Recorded advantages per token, NaN where none exists. */
export function recordedAdvantages(values: Float64Array, batch: Batch): Advantages {
  const exists = Uint8Array.from(values, (value) => (Number.isNaN(value) ? 0 : 1));
  const rows = Float64Array.from({ length: batch.rows }, (_, row) => {
    const known = values
      .subarray(batch.offsets[row]!, batch.offsets[row + 1]!)
      .filter((value) => !Number.isNaN(value));
    return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
  return { tokens: values.map((value) => (Number.isNaN(value) ? 0 : value)), rows, exists };
}
