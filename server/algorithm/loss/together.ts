/** Several losses of one update, taken in parts: each sees the same rows, and adds its share to the same derivatives. */
import type { Channel } from "../../core/policy.ts";
import type { LossSlice, RunningLoss } from "../../core/loss.ts";

/** Corrections for tokens that another distribution drew are the policy's own: a value is right for whoever acts. */
export function corrected<Input extends Pick<LossSlice, "factors" | "correction">>(input: Input): Input {
  const { correction, factors } = input;
  if (correction === undefined) return input;
  const both = new Float64Array(factors.length);
  for (let t = 0; t < both.length; t++) both[t] = factors[t]! * correction[t]!;
  return { ...input, correction: undefined, alike: undefined, factors: both };
}

/** A loss that counts by a factor. */
export class Share {
  /** Of the parts so far, without the factor. */
  loss = 0;
  private readonly columns = new Map<Channel, Float64Array>();

  constructor(
    private readonly running: RunningLoss,
    private readonly appliesCorrection: boolean,
    private readonly factor: number,
    /** Channels that no earlier loss has a derivative by. */
    private readonly alone: readonly Channel[] = [],
  ) {}

  /** Adds the part's derivatives to those that are there. @returns the part's loss times the factor */
  add(part: LossSlice): number {
    const size = part.weights.length;
    const written = new Map<Channel, Float64Array>();
    const gradientOf = (channel: Channel): Float64Array => {
      const known =
        written.get(channel) ??
        (this.alone.includes(channel) ? part.gradientOf(channel) : this.column(channel, size).fill(0));
      written.set(channel, known);
      return known;
    };
    const own = this.running.add({ ...(this.appliesCorrection ? part : corrected(part)), gradientOf });
    for (const [channel, gradient] of written)
      if (this.alone.includes(channel)) multiply(gradient, this.factor);
      else addTimes(part.gradientOf(channel), this.factor, gradient);
    this.loss += own;
    return this.factor * own;
  }

  result(): ReturnType<RunningLoss["result"]> {
    return this.running.result();
  }

  private column(channel: Channel, size: number): Float64Array {
    const known = this.columns.get(channel);
    if (known !== undefined && known.length >= size) return known.subarray(0, size);
    const column = new Float64Array(size);
    this.columns.set(channel, column);
    return column;
  }
}

function multiply(values: Float64Array, factor: number): void {
  if (factor === 1) return;
  for (let t = 0; t < values.length; t++) values[t]! *= factor;
}

function addTimes(into: Float64Array, factor: number, values: Float64Array): void {
  for (let t = 0; t < into.length; t++) into[t]! += factor * values[t]!;
}
