/** From weights to the factor of each row: the loops of the aggregates. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";

/** Of every aggregate that is a mean over rollouts. */
export const emptyRows = param(
  z.enum(["skip", "count"]).default("skip"),
  "Whether rollouts without a trained token count in the mean; TRL counts them.",
);
type EmptyRows = z.output<typeof emptyRows>;

/** Rows that a mean over rollouts is over: all, or those with at least one token that trains. */
export const rowsThatCount = (counts: Int32Array, empty: EmptyRows): number =>
  empty === "count" ? counts.length : counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);

export const tokenMeans = (counts: Int32Array, batch: Batch): Float64Array =>
  alike(
    batch,
    counts.reduce((sum, count) => sum + count, 0),
  );

export function sequenceMeans(counts: Int32Array, empty: EmptyRows): Float64Array {
  const rows = rowsThatCount(counts, empty);
  // A weight of 0 stays 0, also where nothing is to be divided by.
  return Float64Array.from(counts, (count) => 1 / (Math.max(1, count) * Math.max(1, rows)));
}

export const sequenceSums = (counts: Int32Array, batch: Batch, empty: EmptyRows): Float64Array =>
  alike(batch, rowsThatCount(counts, empty));

/** All rows over one number; where nothing trains it is 0, and so are they. */
export const alike = ({ rows }: Batch, divisor: number): Float64Array =>
  new Float64Array(rows).fill(divisor > 0 ? 1 / divisor : 0);
