/** A number for each token of a batch, as whoever reads it some rows at a time takes it: a column, or its substitute. */
import { selectTokens } from "../../core/rows/batch.ts";
import { stretchesOf, type Stretch } from "../../core/rows/batchParts.ts";
import type { Batch } from "../../core/rollouts.ts";
import { PerRow } from "../perRow.ts";
import { Space } from "../space.ts";
import type { Standardised } from "./standardised.ts";

type RowOffsets = Pick<Batch, "rows" | "offsets">;

export type TokenColumn = Float64Array | PerRow | Standardised;
export const tokensOf = (column: TokenColumn): Float64Array =>
  column instanceof Float64Array ? column : column.tokens;

/** Those of a stretch's tokens: a view of the column, or, where there is none, written to the beginning of `into`. */
export function columnOn(
  column: TokenColumn,
  at: Stretch,
  into: (size: number) => Float64Array,
): Float64Array {
  if (column instanceof Float64Array) return column.subarray(at.from, at.to);
  const numbers = into(at.to - at.from);
  column.onto(at, numbers);
  return numbers;
}

/** Columns on one stretch of rows after the other: what is written of them for one is overwritten for the next. */
export function* columnsInStretches(
  batch: RowOffsets,
  ...columns: readonly TokenColumn[]
): Generator<{ readonly at: Stretch; readonly values: readonly Float64Array[] }> {
  const space = new Space();
  for (const at of stretchesOf(batch))
    yield {
      at,
      values: columns.map((column, i) => columnOn(column, at, (size) => space.column(String(i), size))),
    };
}

/** Those of one row's tokens, as numbers of its own. */
export function tokensOfRow(
  column: TokenColumn,
  { offsets }: Pick<Batch, "offsets">,
  row: number,
): Float64Array {
  const at = { first: row, last: row + 1, from: offsets[row]!, to: offsets[row + 1]! };
  if (column instanceof Float64Array) return column.slice(at.from, at.to);
  return columnOn(column, at, (size) => new Float64Array(size));
}

/** Those of some rows, in the order given; the column itself, for all in theirs. */
export function selectTokenColumn(column: TokenColumn, batch: Batch, rows: readonly number[]): TokenColumn {
  if (column instanceof Float64Array) return selectTokens(column, batch, rows);
  return column instanceof PerRow ? column.of(rows) : column.of(batch, rows);
}

/** The column with each row's numbers times a factor of the row; in place where it has a number for each token. */
export function timesRows(
  column: TokenColumn,
  { offsets }: Pick<Batch, "offsets">,
  factors: Float64Array,
): TokenColumn {
  if (column instanceof PerRow) return column.times(factors);
  const values = tokensOf(column);
  factors.forEach((factor, row) => {
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) values[i]! *= factor;
  });
  return values;
}

/** Whether every number is 0. */
export const isNought = (column: TokenColumn): boolean =>
  (column instanceof PerRow ? column.rows : tokensOf(column)).every((value) => value === 0);

/** Tokens of each row that train: those whose weight is not 0. */
export function countsOf(column: TokenColumn, { rows, offsets }: RowOffsets): Int32Array {
  const counts = new Int32Array(rows);
  const weights = column instanceof PerRow ? column : tokensOf(column);
  for (let row = 0; row < rows; row++) {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    if (!(weights instanceof PerRow)) counts[row] = countIn(weights, from, to);
    else if (weights.rows[row] !== 0) counts[row] = to - from;
  }
  return counts;
}

function countIn(weights: Float64Array, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) if (weights[i] !== 0) count += 1;
  return count;
}
