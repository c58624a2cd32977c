/** From the advantages of units to those of tokens. */
import type { Units } from "../../core/slots/advantage.ts";
import { trainedTokens } from "../../methods/advantage/units.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { ShiftAndScale } from "../../methods/advantage/whiten.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import { inSlices } from "../../lib/slices.ts";
import { PerRow } from "../perRow.ts";
import { Standardised } from "./standardised.ts";

/** One advantage a row; columns of tokens are made where they are asked for. */
export class RowAdvantages implements Advantages {
  readonly perRow: PerRow;
  readonly returns?: Float64Array;
  private known: Uint8Array | undefined;

  constructor(
    readonly rows: Float64Array,
    { offsets }: Pick<Batch, "offsets">,
    targets?: Float64Array,
  ) {
    this.perRow = new PerRow(rows, offsets);
    if (targets !== undefined) this.returns = targets;
  }
  get tokens(): Float64Array {
    return this.perRow.tokens;
  }
  get exists(): Uint8Array {
    return (this.known ??= this.perRow.exists());
  }
}

/** Advantages of units below a response, on the tokens of each. */
export class UnitAdvantages implements Advantages {
  readonly everywhere: boolean;
  readonly returns?: Float64Array;
  readonly late?: Standardised;
  private readonly written: Float64Array;
  private means: Float64Array | undefined;
  private known: Uint8Array | undefined;

  /**
   * @param values of the units; NaN: a unit has none. They become the tokens' where every token is a unit
   * @param by what they are yet to be standardised by, where every token is a unit and has one
   */
  constructor(
    private readonly values: Float64Array,
    private readonly units: Units,
    private readonly batch: Batch,
    targets: Float64Array | undefined,
    by?: ShiftAndScale,
  ) {
    if (by !== undefined) this.late = new Standardised(values, by);
    this.everywhere = by !== undefined || (units.everyToken === true && !hasNone(values));
    this.written = this.everywhere ? values : this.column();
    if (targets !== undefined) this.returns = targets;
  }

  get tokens(): Float64Array {
    return this.late?.tokens ?? this.written;
  }

  get rows(): Float64Array {
    const { units, batch } = this;
    const values = this.late?.tokens ?? this.values;
    return (this.means ??= rowMeans(values, units, trainedTokens(units, batch.mask), batch.rows));
  }

  get exists(): Uint8Array {
    return (this.known ??= this.found());
  }

  private found(): Uint8Array {
    const exists = new Uint8Array(this.batch.tokens.length);
    if (this.everywhere) return exists.fill(1);
    this.eachKnown((_, from, to) => exists.fill(1, from, to));
    return exists;
  }

  private column(): Float64Array {
    const tokens = new Float64Array(this.batch.tokens.length);
    this.eachKnown((value, from, to) => {
      if (to === from + 1) tokens[from] = value;
      else tokens.fill(value, from, to);
    });
    return tokens;
  }

  private eachKnown(visit: (value: number, from: number, to: number) => void): void {
    const { count, start, end } = this.units;
    for (let unit = 0; unit < count; unit++)
      if (!Number.isNaN(this.values[unit]!)) visit(this.values[unit]!, start[unit]!, end[unit]!);
  }
}

function hasNone(values: Float64Array): boolean {
  let none = false;
  inSlices(values.length, (from, to) => {
    none ||= hasNoneIn(values, from, to);
  });
  return none;
}

function hasNoneIn(values: Float64Array, from: number, to: number): boolean {
  for (let unit = from; unit < to; unit++) if (values[unit] !== values[unit]) return true;
  return false;
}

/** Per row, the mean over its trained tokens, or of its last unit where none trains. */
function rowMeans(
  values: Float64Array,
  { offsets }: Units,
  counts: Int32Array | undefined,
  size: number,
): Float64Array {
  const means = new Float64Array(size).fill(Number.NaN);
  for (let row = 0; row < size; row++) {
    let sum = 0;
    let weights = 0;
    for (let unit = offsets[row]!; unit < offsets[row + 1]!; unit++) {
      const value = values[unit]!;
      if (value !== value) continue;
      const weight = counts === undefined ? 1 : counts[unit]!;
      means[row] = value;
      sum += weight * value;
      weights += weight;
    }
    if (weights !== 0) means[row] = sum / weights;
  }
  return means;
}
