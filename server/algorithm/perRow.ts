import { offsetsOf, selectValues } from "../batch.ts";
import { everything, type Stretch } from "../parts.ts";
import type { Batch } from "../seams.ts";
import type { Standardised } from "./standardised.ts";

type Rows = Pick<Batch, "rows" | "offsets">;

/** A number for each row of a batch that all its tokens have: a column of them is made where one is asked for. */
export class PerRow {
  private column: Float64Array | undefined;

  /** @param rows NaN where a row's tokens have none; they are 0 then */
  constructor(
    readonly rows: Float64Array,
    private readonly offsets: Int32Array,
  ) {}

  /** Writes those of the stretch's tokens to the beginning of `into`. */
  onto({ first, last, from }: Stretch, into: Float64Array): void {
    const { rows, offsets } = this;
    for (let row = first; row < last; row++)
      into.fill(Number.isNaN(rows[row]!) ? 0 : rows[row]!, offsets[row]! - from, offsets[row + 1]! - from);
  }

  /** Those of some rows, in the order given. */
  of(rows: readonly number[]): PerRow {
    const { offsets } = this;
    return new PerRow(
      selectValues(this.rows, rows),
      offsetsOf(rows.map((row) => offsets[row + 1]! - offsets[row]!)),
    );
  }

  get tokens(): Float64Array {
    if (this.column === undefined) {
      const { rows, offsets } = this;
      this.column = new Float64Array(offsets.at(-1)!);
      this.onto(everything({ rows: rows.length, offsets }), this.column);
    }
    return this.column;
  }

  /** Per token: 1 where its row has a number. */
  exists(): Uint8Array {
    const found = new Uint8Array(this.offsets.at(-1)!);
    this.rows.forEach((value, row) => {
      if (!Number.isNaN(value)) found.fill(1, this.offsets[row], this.offsets[row + 1]);
    });
    return found;
  }
}

/** A number per token. */
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

/** Tokens of each row that train: those whose weight is not 0. */
export function countsOf(column: TokenColumn, { rows, offsets }: Rows): Int32Array {
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
