/** Rows cut into the units that a loss compares: whole responses, turns, steps or tokens. */
import { type Spans, firstTrained } from "../../core/rows/spans.ts";
import type { Level } from "../../core/basics.ts";
import type { ObjectiveInput } from "../../core/loss.ts";
import { rowMass } from "./rowLevel.ts";

/**
 * Each span's share of the loss: a row's share in equal parts for its spans that train; a token has its own factor.
 * Spans without a trained token have none.
 */
export function spanMass(
  { starts, ends, rows }: Spans,
  level: Level,
  { batch, weights, factors }: Pick<ObjectiveInput, "batch" | "weights" | "factors">,
): Float64Array {
  if (level === "token") return factors;
  const trains = Uint8Array.from(starts, (start, k) => (firstTrained(weights, start, ends[k]!) < 0 ? 0 : 1));
  const parts = new Int32Array(batch.rows);
  trains.forEach((one, k) => (parts[rows[k]!]! += one));
  const mass = rowMass({ batch, factors });
  return Float64Array.from(trains, (one, k) => (one === 0 ? 0 : mass[rows[k]!]! / parts[rows[k]!]!));
}
