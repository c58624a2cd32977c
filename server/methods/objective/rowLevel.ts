/**
 * What losses over whole rows share: a row's log-prob or log-ratio as a weighted sum over its tokens, its share of the
 * loss, its score, and the way back from a derivative by that sum to derivatives by tokens.
 */
import type { Model } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Stats } from "../../core/policy.ts";
import type { ObjectiveInput } from "../../core/loss.ts";
import { column } from "./column.ts";
import { notFinite } from "./finite.ts";

/** Which log-probs the policy's are compared with. `behaviour`: of the weights that wrote; `none`: nothing. */
export type Anchor = Model;

/** The models that a step scores for an objective. */
export const anchorModels = (anchor: Anchor): readonly Model[] =>
  anchor === "behaviour" || anchor === "none" ? [] : [anchor];

/** The anchor's log-probs; undefined for none. */
export function anchorColumn(old: Stats, anchor: Anchor): Float64Array | undefined {
  if (anchor === "none") return undefined;
  const channel: Channel = anchor === "behaviour" ? "logp" : `logp:${anchor}`;
  return column(old, channel, "the objective");
}

/** One number per row: `value = scale · Σ_t weight · (log π − log anchor)`; rows without a trained token have count 0. */
export interface RowSums {
  readonly value: Float64Array;
  /** d value / d logp_t = scale[row] · weight_t. */
  readonly scale: Float64Array;
  /** Trained tokens. */
  readonly count: Int32Array;
}

/**
 * Sums of log-ratios against the anchor. `mean`: divided by the number of trained tokens.
 * @throws UserError where a token that trains has a log-prob that is not finite
 */
export function rowSums(
  { batch, now, old, weights }: Pick<ObjectiveInput, "batch" | "now" | "old" | "weights">,
  anchor: Anchor,
  mean = false,
): RowSums {
  const logp = column(now, "logp", "the objective");
  const other = anchorColumn(old, anchor);
  const value = new Float64Array(batch.rows);
  const scale = new Float64Array(batch.rows);
  const count = new Int32Array(batch.rows);
  for (let row = 0; row < batch.rows; row++) {
    let sum = 0;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      if (weights[t] === 0) continue;
      sum += weights[t]! * (other === undefined ? logp[t]! : logp[t]! - other[t]!);
      count[row]! += 1;
    }
    if (!Number.isFinite(sum)) throw firstNotFinite(batch, row, weights, logp, other, anchor);
    scale[row] = mean && count[row]! > 0 ? 1 / count[row]! : 1;
    value[row] = sum * scale[row]!;
  }
  return { value, scale, count };
}

function firstNotFinite(
  batch: Batch,
  row: number,
  weights: Float64Array,
  logp: Float64Array,
  other: Float64Array | undefined,
  anchor: Anchor,
): Error {
  for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
    if (weights[t] === 0) continue;
    if (!Number.isFinite(logp[t]!)) return notFinite("the policy's log-prob", logp[t]!, batch, t);
    if (other !== undefined && !Number.isFinite(other[t]!))
      return notFinite(`the log-prob of ${anchor}`, other[t]!, batch, t);
  }
  return new Error("internal: a sum of finite numbers is not finite");
}

/** A row's share of the loss: the sum of its tokens' factors, 1 / rows under `sequence_mean`. */
export function rowMass({ batch, factors }: Pick<ObjectiveInput, "batch" | "factors">): Float64Array {
  const mass = new Float64Array(batch.rows);
  for (let row = 0; row < batch.rows; row++)
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) mass[row]! += factors[t]!;
  return mass;
}

/** From derivatives by row sums to derivatives by tokens. */
export function spread(
  slopes: Float64Array,
  { scale }: RowSums,
  { batch, weights }: Pick<ObjectiveInput, "batch" | "weights">,
  into: Float64Array = new Float64Array(weights.length),
): Float64Array {
  for (let row = 0; row < batch.rows; row++) {
    const slope = slopes[row]! * scale[row]!;
    if (slope === 0) continue;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) into[t]! += slope * weights[t]!;
  }
  return into;
}

/** Mean advantage over a row's trained tokens; NaN where none trains. */
export function rowAdvantages({
  batch,
  advantages,
  weights,
}: Pick<ObjectiveInput, "batch" | "advantages" | "weights">): Float64Array {
  const result = new Float64Array(batch.rows);
  for (let row = 0; row < batch.rows; row++) {
    let sum = 0;
    let count = 0;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      if (weights[t] === 0) continue;
      sum += advantages[t]!;
      count += 1;
    }
    result[row] = count === 0 ? Number.NaN : sum / count;
  }
  return result;
}

/**
 * What ranks the rows: the combined reward, or the advantage where no reward is known. NaN for a row that does not
 * train: one without a trained token, without a reward, or with a term that failed.
 */
export function rowScores(input: ObjectiveInput): Float64Array {
  const scores = rowAdvantages(input);
  const { rewards } = input;
  if (rewards === undefined || rewards.total.every((total) => Number.isNaN(total))) return scores;
  return scores.map((advantage, row) =>
    Number.isNaN(advantage) || rewards.errored[row] === 1 ? Number.NaN : rewards.total[row]!,
  );
}

/** 1 where a row succeeded, 0 where not, 2 where it is unknown. Without success, a positive advantage is one. */
export function rowSuccess(input: ObjectiveInput): Uint8Array {
  const { success } = input;
  if (success !== undefined && success.some((value) => value !== 2)) return success;
  return Uint8Array.from(rowAdvantages(input), (advantage) =>
    Number.isNaN(advantage) ? 2 : advantage > 0 ? 1 : 0,
  );
}
