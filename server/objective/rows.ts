import type { Batch } from "../seams.ts";

/** Rows with at least one token that trains. */
export function rowsThatCount(weights: Float64Array, { rows, offsets }: Batch): number {
  let count = 0;
  for (let row = 0; row < rows; row++) {
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
      if (weights[i] === 0) continue;
      count += 1;
      break;
    }
  }
  return count;
}
