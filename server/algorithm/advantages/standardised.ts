import { standardise, standardiseInto, type ShiftAndScale } from "../../methods/advantage/whiten.ts";
import { selectTokens } from "../../core/rows/batch.ts";
import type { Stretch } from "../../core/rows/batchParts.ts";
import type { Batch } from "../../core/rollouts.ts";

/** A column of tokens that is standardised where somebody reads it: on a stretch, or, once, as a whole and in place. */
export class Standardised {
  private done = false;

  constructor(
    private readonly values: Float64Array,
    private readonly by: ShiftAndScale,
  ) {}

  /** Writes those of the stretch's tokens to the beginning of `into`. */
  onto({ from, to }: Pick<Stretch, "from" | "to">, into: Float64Array): void {
    const { values, by } = this;
    if (this.done) into.set(values.subarray(from, to));
    else standardiseInto(into, from, values, by.shift, by.factor, from, to);
  }

  /** Those of some rows, in the order given. */
  of(batch: Batch, rows: readonly number[]): Float64Array | Standardised {
    const values = selectTokens(this.values, batch, rows);
    if (this.done) return values;
    return values === this.values ? this : new Standardised(values, this.by);
  }

  get tokens(): Float64Array {
    if (!this.done) standardise(this.values, this.by);
    this.done = true;
    return this.values;
  }
}
