import { offsetsOf, selectValues } from "../core/rows/batch.ts";
import { everything, type Stretch } from "../core/rows/batchParts.ts";

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

  /** Each row's number times a factor of the row. */
  times(factors: Float64Array): PerRow {
    return new PerRow(
      this.rows.map((value, row) => value * factors[row]!),
      this.offsets,
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
