/** Whether two changes from one base move the same weights. */
import { bitsOf, seenApart, tolerance } from "./movement.ts";

/** Counts over weights, which add up. */
interface Shared {
  readonly a: number;
  readonly b: number;
  readonly both: number;
}
export interface SharedMasks {
  readonly parameters: number;
  /** |Δ| above the tolerance. */
  readonly moved: Shared;
  /** Another number in bfloat16. */
  readonly visible: Shared;
}

export function sharedMasks(base: Float32Array, a: Float32Array, b: Float32Array): SharedMasks {
  const [baseBits, aBits, bBits] = [bitsOf(base), bitsOf(a), bitsOf(b)];
  const [moved, visible] = [
    { a: 0, b: 0, both: 0 },
    { a: 0, b: 0, both: 0 },
  ];
  const count = (into: { a: number; b: number; both: number }, one: boolean, other: boolean): void => {
    if (one) into.a++;
    if (other) into.b++;
    if (one && other) into.both++;
  };
  for (let i = 0; i < base.length; i++) {
    const from = base[i]!;
    count(moved, Math.abs(a[i]! - from) > tolerance, Math.abs(b[i]! - from) > tolerance);
    count(visible, seenApart(baseBits[i]!, aBits[i]!), seenApart(baseBits[i]!, bBits[i]!));
  }
  return { parameters: base.length, moved, visible };
}

export interface Overlap {
  readonly jaccard: number | null;
  /** Of masks of these sizes that know nothing of each other: pq / (p + q − pq). */
  readonly jaccard_expected: number | null;
  /** Share of A's mask that is in B's, and the other way round; by chance these are the sizes of the other's. */
  readonly of_a: number | null;
  readonly of_b: number | null;
  readonly share_a: number;
  readonly share_b: number;
}

const ratio = (one: number, other: number): number | null => (other > 0 ? one / other : null);

function overlapOf(all: readonly { readonly parameters: number; readonly shared: Shared }[]): Overlap {
  const sum = (of: (one: Shared) => number): number =>
    all.reduce((total, { shared }) => total + of(shared), 0);
  const n = all.reduce((total, { parameters }) => total + parameters, 0);
  const [a, b, both] = [sum((one) => one.a), sum((one) => one.b), sum((one) => one.both)];
  const [p, q] = [a / n, b / n];
  return {
    jaccard: ratio(both, a + b - both),
    jaccard_expected: ratio(p * q, p + q - p * q),
    of_a: ratio(both, a),
    of_b: ratio(both, b),
    share_a: p,
    share_b: q,
  };
}

export interface Overlaps {
  readonly moved: Overlap;
  readonly visible: Overlap;
}
export const overlapsOf = (all: readonly SharedMasks[]): Overlaps => ({
  moved: overlapOf(all.map(({ parameters, moved }) => ({ parameters, shared: moved }))),
  visible: overlapOf(all.map(({ parameters, visible }) => ({ parameters, shared: visible }))),
});
