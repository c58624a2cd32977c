/** From weights to factors: the loops behind the aggregates. */
import type { Batch } from "../seams.ts";
import { rowsThatCount } from "./rows.ts";

export type EmptyRows = "skip" | "count";

export function tokenMeans(weights: Float64Array, _: Batch, into?: Float64Array): Float64Array {
  let count = 0;
  for (let i = 0; i < weights.length; i++) if (weights[i] !== 0) count += 1;
  return scaled(weights, count, into);
}

export function sequenceMeans(
  weights: Float64Array,
  batch: Batch,
  empty: EmptyRows,
  result: Float64Array = new Float64Array(weights.length),
): Float64Array {
  const { rows, offsets } = batch;
  const counted = empty === "count" ? rows : rowsThatCount(weights, batch);
  for (let row = 0; row < rows; row++) {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    let count = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) count += 1;
    // A weight of 0 stays 0, also where nothing is to be divided by.
    const factor = 1 / (Math.max(1, count) * Math.max(1, counted));
    for (let i = from; i < to; i++) result[i] = weights[i]! * factor;
  }
  return result;
}

export const sequenceSums = (
  weights: Float64Array,
  batch: Batch,
  empty: EmptyRows,
  into?: Float64Array,
): Float64Array => scaled(weights, empty === "count" ? batch.rows : rowsThatCount(weights, batch), into);

/** Weights over a number; where nothing trains they stay 0. */
export function scaled(
  weights: Float64Array,
  divisor: number,
  result: Float64Array = new Float64Array(weights.length),
): Float64Array {
  const factor = divisor > 0 ? 1 / divisor : 0;
  for (let i = 0; i < weights.length; i++) result[i] = weights[i]! * factor;
  return result;
}
