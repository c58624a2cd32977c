/** Whether the weights that visibly moved are those that carry a matrix, or small ones ("The Path Not Taken", 4.2). */
import type { Spectrum } from "../../lib/algebra/spectrum.ts";
import { nthSmallest } from "../../lib/nthSmallest.ts";
import { bitsOf, seenApart } from "./movement.ts";

/** Weights that a mask chooses, that moved, and that are both; counts, which add up. */
export interface MaskCount {
  readonly chosen: number;
  readonly moved: number;
  readonly both: number;
  readonly parameters: number;
}
export const maskNames = ["principal", "low_magnitude", "largest_magnitude", "principal_not_low"] as const;
export type MaskCounts = Readonly<Record<(typeof maskNames)[number], MaskCount>>;

/** |W^(k)|: sizes after only the first k singular values are kept. */
function reconstructed({ left, right, values }: Spectrum, rows: number, columns: number): Float32Array {
  const sizes = new Float32Array(rows * columns);
  const row = new Float64Array(columns);
  for (let i = 0; i < rows; i++) {
    row.fill(0);
    left.forEach((u, at) => {
      const factor = u[i]! * values[at]!;
      const v = right[at]!;
      for (let j = 0; j < columns; j++) row[j]! += factor * v[j]!;
    });
    for (let j = 0; j < columns; j++) sizes[i * columns + j] = Math.abs(row[j]!);
  }
  return sizes;
}

/** The least of the `share` largest. */
const largestFrom = (sizes: Float32Array, share: number): number =>
  nthSmallest(sizes.slice(), sizes.length - Math.max(1, Math.round(share * sizes.length)));
/** The largest of the `share` smallest. */
const smallestTo = (sizes: Float32Array, share: number): number =>
  nthSmallest(sizes.slice(), Math.max(1, Math.round(share * sizes.length)) - 1);

/** @param of the matrix before, with as many singular vectors as its reconstruction keeps @param share α */
export function maskCounts(
  before: Float32Array,
  after: Float32Array,
  of: Spectrum,
  { rows, columns, share }: { readonly rows: number; readonly columns: number; readonly share: number },
): MaskCounts {
  const [a, b] = [bitsOf(before), bitsOf(after)];
  const [sizes, rebuilt] = [before.map(Math.abs), reconstructed(of, rows, columns)];
  const [principal, low, large] = [
    largestFrom(rebuilt, share),
    smallestTo(sizes, share),
    largestFrom(sizes, share),
  ];
  const chosen = [0, 0, 0, 0];
  const both = [0, 0, 0, 0];
  let moved = 0;
  for (let i = 0; i < before.length; i++) {
    const [isPrincipal, isLow] = [rebuilt[i]! >= principal, sizes[i]! <= low];
    const member = [isPrincipal, isLow, sizes[i]! >= large, isPrincipal && !isLow];
    const changed = seenApart(a[i]!, b[i]!);
    if (changed) moved++;
    for (let mask = 0; mask < 4; mask++) {
      if (member[mask] !== true) continue;
      chosen[mask]!++;
      if (changed) both[mask]!++;
    }
  }
  const count = (mask: number): MaskCount => ({
    chosen: chosen[mask]!,
    both: both[mask]!,
    moved,
    parameters: before.length,
  });
  return {
    principal: count(0),
    low_magnitude: count(1),
    largest_magnitude: count(2),
    principal_not_low: count(3),
  };
}

export interface MaskOverlap {
  /** Share of the weights that moved that the mask chooses. */
  readonly overlap: number | null;
  /** The mask's own share: what weights that move anywhere would have. */
  readonly expected: number | null;
}
export type MaskOverlaps = Readonly<Record<(typeof maskNames)[number], MaskOverlap>>;

/** Over matrices: each counts by the weights of it that moved. */
export function maskOverlaps(all: readonly MaskCounts[]): MaskOverlaps {
  const of = (name: (typeof maskNames)[number]): MaskOverlap => {
    const sum = (value: (one: MaskCount) => number): number =>
      all.reduce((total, one) => total + value(one[name]), 0);
    const moved = sum((one) => one.moved);
    if (moved === 0) return { overlap: null, expected: null };
    return {
      overlap: sum(({ both }) => both) / moved,
      expected: sum((one) => (one.moved * one.chosen) / one.parameters) / moved,
    };
  };
  return {
    principal: of("principal"),
    low_magnitude: of("low_magnitude"),
    largest_magnitude: of("largest_magnitude"),
    principal_not_low: of("principal_not_low"),
  };
}
