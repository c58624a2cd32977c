/**
 * Loops over the tokens of a row that several losses share.
 *
 * A loop over tokens is in a function of its own that takes columns and the row's bounds: the engine compiles what is
 * called often as a whole. A loop in a function that does more is entered in its middle, where every number is an object
 * until it is known to be one, and whatever the function does after the loop throws the compiled code away.
 */
import { exp } from "../../lib/exponential.ts";

/** into = a − b. */
export function differencesInto(
  into: Float64Array,
  a: Float64Array,
  b: Float64Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) into[i] = a[i]! - b[i]!;
}

/** log = now − anchor within bounds. With Math.min: a number chosen between two would be an object at every token. */
export function logRatiosInto(
  log: Float64Array,
  now: Float64Array,
  anchor: Float64Array,
  low: number,
  high: number,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) log[i] = Math.min(high, Math.max(low, now[i]! - anchor[i]!));
}

/** ratio = e^log. */
export function exponentialsInto(ratio: Float64Array, log: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) ratio[i] = exp(log[i]!);
}

/** A column that every part of a batch overwrites: fresh memory costs more than what is computed in it. */
export class Scratch {
  private numbers = new Float64Array(0);

  /** An array of this many numbers with arbitrary contents. */
  of(size: number): Float64Array {
    if (this.numbers.length < size) this.numbers = new Float64Array(size);
    return this.numbers.length === size ? this.numbers : this.numbers.subarray(0, size);
  }
}
