/** From weights to factors: the loops behind the aggregates. */
import type { Batch } from "../seams.ts";
import { rowsThatCount } from "./rows.ts";

export type EmptyRows = "skip" | "count";

export function tokenMeans(weights: Float64Array): Float64Array {
  let count = 0;
  for (let i = 0; i < weights.length; i++) if (weights[i] !== 0) count += 1;
  return scaled(weights, count);
}

export function sequenceMeans(weights: Float64Array, batch: Batch, empty: EmptyRows): Float64Array {
  const { rows, offsets } = batch;
  const counted = empty === "count" ? rows : rowsThatCount(weights, batch);
  const result = new Float64Array(weights.length);
  for (let row = 0; row < rows; row++) {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    let count = 0;
    for (let i = from; i < to; i++) if (weights[i] !== 0) count += 1;
    if (count === 0) continue;
    for (let i = from; i < to; i++) result[i] = weights[i]! / (count * counted);
  }
  return result;
}

export const sequenceSums = (weights: Float64Array, batch: Batch, empty: EmptyRows): Float64Array =>
  scaled(weights, empty === "count" ? batch.rows : rowsThatCount(weights, batch));

/** Weights over a number; where nothing trains they stay 0. */
export function scaled(weights: Float64Array, divisor: number): Float64Array {
  const result = new Float64Array(weights.length);
  if (divisor > 0) for (let i = 0; i < weights.length; i++) result[i] = weights[i]! / divisor;
  return result;
}
