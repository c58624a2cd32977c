/**
 * Packed points once more, coarsely: in cells of a few steps each, so that a chart of a million points reads some thirty times
 * less. A cell's borders are those of `Buckets`, so cells join into any wider bucket.
 */
import { Buckets } from "../../../shared/lib/buckets.ts";

/** Steps of a cell. */
export const cellWidth = 32;
/** Numbers of a cell: first and last step, points, finite ones, their sum, lowest and highest. */
const fields = 7;

/** A row of the table `level`: the cells one after the other, as little-endian float64. */
export function cellsOf(steps: Float64Array, values: Float64Array): Uint8Array {
  const cells = new Buckets(cellWidth);
  cells.addAll(steps, values);
  const numbers = new Float64Array(cells.steps.length * fields);
  let at = 0;
  cells.steps.forEach((last, cell) => {
    let points = 0;
    for (; at < steps.length && steps[at]! <= last; at++) points++;
    numbers.set(
      [
        cells.begins[cell]!,
        last,
        points,
        cells.counts[cell]!,
        cells.sums[cell]!,
        cells.low[cell]!,
        cells.high[cell]!,
      ],
      cell * fields,
    );
  });
  return new Uint8Array(numbers.buffer);
}

/** Adds cells to buckets that are at least as wide. @returns the points that they stand for */
export function addCells(buckets: Buckets, blob: Buffer): number {
  // A blob may begin anywhere in its buffer, and float64 must not.
  const aligned = blob.byteOffset % 8 === 0 ? blob : new Uint8Array(blob);
  const numbers = new Float64Array(aligned.buffer, aligned.byteOffset, blob.length / 8);
  let points = 0;
  for (let at = 0; at < numbers.length; at += fields) {
    points += numbers[at + 2]!;
    buckets.join(
      numbers[at]!,
      numbers[at + 1]!,
      numbers[at + 3]!,
      numbers[at + 4]!,
      numbers[at + 5]!,
      numbers[at + 6]!,
    );
  }
  return points;
}
