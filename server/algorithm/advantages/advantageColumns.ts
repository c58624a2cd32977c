/** Advantages as what reads them some rows at a time takes them. */
import type { Batch } from "../../core/rollouts.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import { columnOn, tokensOfRow, type TokenColumn } from "./tokenColumn.ts";

/** The advantages' column; where there need not be one, its substitute. */
export const columnOfAdvantages = (advantages: Advantages): TokenColumn =>
  advantages.perRow ?? advantages.late ?? advantages.tokens;

/** Those of one row's tokens, as numbers of its own; NaN where a token has none. */
export function advantagesOfRow(advantages: Advantages, batch: Batch, row: number): Float64Array {
  const { perRow, everywhere } = advantages;
  if (Number.isNaN(perRow?.rows[row]))
    return new Float64Array(batch.offsets[row + 1]! - batch.offsets[row]!).fill(Number.NaN);
  const own = tokensOfRow(columnOfAdvantages(advantages), batch, row);
  if (perRow !== undefined || everywhere === true) return own;
  const from = batch.offsets[row]!;
  return own.map((value, i) => (advantages.exists[from + i] === 0 ? Number.NaN : value));
}

/** A row's mean over its tokens that train and have an advantage; NaN where there is none. */
export function meanAdvantage(advantages: Advantages, { mask, offsets }: Batch, row: number): number {
  const [from, to] = [offsets[row]!, offsets[row + 1]!];
  const { perRow, everywhere } = advantages;
  if (perRow !== undefined) return mask.subarray(from, to).includes(1) ? perRow.rows[row]! : Number.NaN;
  const at = { first: row, last: row + 1, from, to };
  const tokens = columnOn(columnOfAdvantages(advantages), at, (size) => new Float64Array(size));
  const exists = everywhere === true ? undefined : advantages.exists.subarray(from, to);
  return meanWhere(tokens, mask.subarray(from, to), exists);
}

function meanWhere(values: Float64Array, trained: Uint8Array, exists: Uint8Array | undefined): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (trained[i] !== 1 || exists?.[i] === 0) continue;
    sum += values[i]!;
    count += 1;
  }
  return sum / count;
}
