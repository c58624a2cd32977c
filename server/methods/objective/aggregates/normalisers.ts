/** From weights to the factor of each row: the loops of the aggregates. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { rowsOfEpisodes } from "../../../core/rows/parts.ts";

/** Of every aggregate that is a mean over rollouts. */
export const emptyRows = param(
  z.enum(["skip", "count"]).default("skip"),
  "Whether rollouts without a trained token count in the mean; TRL counts them.",
);
type EmptyRows = z.output<typeof emptyRows>;

/** Per row, the trained tokens of its rollout: those of all rows of an episode that became several. */
function countsOfRollouts(counts: Int32Array, batch: Batch): Int32Array {
  if (!batch.records.some(({ part }) => part !== undefined)) return counts;
  const whole = new Int32Array(counts.length);
  for (const rows of rowsOfEpisodes(batch)) {
    const count = rows.reduce((sum, row) => sum + counts[row]!, 0);
    for (const row of rows) whole[row] = count;
  }
  return whole;
}

/** Rollouts that a mean is over: all, or those with at least one token that trains. */
export function rolloutsThatCount(counts: Int32Array, batch: Batch, empty: EmptyRows): number {
  const whole = countsOfRollouts(counts, batch);
  return rowsOfEpisodes(batch).filter(([row]) => empty === "count" || whole[row!]! > 0).length;
}

export const tokenMeans = (counts: Int32Array, batch: Batch): Float64Array =>
  alike(
    batch,
    counts.reduce((sum, count) => sum + count, 0),
  );

export function sequenceMeans(counts: Int32Array, batch: Batch, empty: EmptyRows): Float64Array {
  const rollouts = Math.max(1, rolloutsThatCount(counts, batch, empty));
  // A weight of 0 stays 0, also where nothing is to be divided by.
  return Float64Array.from(countsOfRollouts(counts, batch), (count) => 1 / (Math.max(1, count) * rollouts));
}

export const sequenceSums = (counts: Int32Array, batch: Batch, empty: EmptyRows): Float64Array =>
  alike(batch, rolloutsThatCount(counts, batch, empty));

/** Each group's mean over its trained tokens counts equally. */
export function promptMeans(counts: Int32Array, { group, groups }: Batch): Float64Array {
  const tokens = new Float64Array(groups);
  group.forEach((at, row) => (tokens[at]! += counts[row]!));
  const trained = Math.max(1, tokens.filter((count) => count > 0).length);
  // A weight of 0 stays 0, also where nothing is to be divided by.
  return Float64Array.from(group, (at) => 1 / (Math.max(1, tokens[at]!) * trained));
}

/** All rows over one number; where nothing trains it is 0, and so are they. */
export const alike = ({ rows }: Batch, divisor: number): Float64Array =>
  new Float64Array(rows).fill(divisor > 0 ? 1 / divisor : 0);
