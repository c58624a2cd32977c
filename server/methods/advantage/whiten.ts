/** Standardising finished advantages over the whole step. */
import { whitenOptions as options, type Whiten } from "../../core/blocks/advantage.ts";
import { inSlices } from "../../lib/slices.ts";
import { Moments } from "../../lib/moments.ts";

function divisor(variance: number, epsilon: number, inside: "variance" | "deviation" | "floor"): number {
  if (inside === "variance") return Math.sqrt(variance + epsilon);
  return inside === "deviation" ? Math.sqrt(variance) + epsilon : Math.sqrt(Math.max(variance, epsilon));
}

/** Sums over values that count; undefined where none does. */
function momentsOf(values: Float64Array, counts: Int32Array | undefined): Moments | undefined {
  const first = values.findIndex((value, unit) => !Number.isNaN(value) && counts?.[unit] !== 0);
  if (first < 0) return undefined;
  const moments = new Moments();
  moments.pivot(values[first]!);
  inSlices(values.length, (from, to) => {
    moments.add(values, counts, from, to);
  });
  return moments;
}

/** A ← (A − shift) · factor. */
export interface ShiftAndScale {
  readonly shift: number;
  readonly factor: number;
  /** Every value is a number. */
  readonly complete: boolean;
}

/**
 * What standardises the values of units.
 * @param counts trained tokens of each unit; undefined: each is one
 * @param known sums over all of them, where somebody has looked at every one
 * @returns undefined where there is nothing to do
 */
export function whitening(
  values: Float64Array,
  counts: () => Int32Array | undefined,
  how: Whiten,
  known?: Moments,
): ShiftAndScale | undefined {
  if (how === "none") return undefined;
  const given = typeof how === "string" ? options.parse({ over: how }) : how;
  const { over, center, population } = given;
  const epsilon = given.epsilon ?? (over === "tokens" ? 1e-8 : 1e-4);
  const inside = given.inside ?? (over === "tokens" ? "variance" : "deviation");
  const weights = over === "tokens" ? counts() : undefined;
  const alike = weights === undefined;
  const moments = alike && known?.seen === values.length && known.n > 0 ? known : momentsOf(values, weights);
  if (moments === undefined) return undefined;
  const { n, mean, spread, equal } = moments;
  // Equal values have no spread, which rounding of the mean would hide; they are exactly at their mean.
  const shift = center ? mean : 0;
  const variance = n < 2 ? 0 : spread / (population ? n : n - 1);
  const by = given.scale ? divisor(variance, epsilon, inside) : 1;
  const factor = by === 0 || (equal && center) ? 0 : 1 / by;
  return { shift, factor, complete: alike && n === values.length && Number.isFinite(variance) };
}

/** In place; NaN stays where no advantage exists: not a number times nothing stays one. */
export function standardise(values: Float64Array, { shift, factor }: ShiftAndScale): void {
  inSlices(values.length, (from, to) => {
    standardiseInto(values, 0, values, shift, factor, from, to);
  });
}

/** into[i − place] = (values[i] − shift) · factor for i in [from, to). */
export function standardiseInto(
  into: Float64Array,
  place: number,
  values: Float64Array,
  shift: number,
  factor: number,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) into[i - place] = (values[i]! - shift) * factor;
}
