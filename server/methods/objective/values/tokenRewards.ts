/** Rewards and returns per token, for the losses that regress on them. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { status, type Combined, type RewardColumn } from "../../../core/reward.ts";
import type { ObjectiveInput, LossSlice, WholeInput } from "../../../core/loss.ts";
import { lastTrained } from "../../../core/rows/spans.ts";
import { Scratch } from "../tokenLoops.ts";

/** Rewards by token: a token's reward at the token, that of a step, a turn or the response at its last trained token. */
export function tokenRewards(input: Pick<ObjectiveInput, "batch" | "rewards" | "weights">): Float64Array {
  const rewards = new Float64Array(input.batch.tokens.length);
  return addRewards(rewards, { ...input, first: 0 }, rewardsOf(input));
}

function rewardsOf({ rewards }: Pick<ObjectiveInput, "rewards">): Combined {
  if (rewards !== undefined) return rewards;
  throw new UserError("the objective regresses on rewards, and the rollouts have none", {
    code: "rewards-missing",
    action: "Record `rewards` or `reward` with the rollouts, or record `returns` per token.",
  });
}

/** Rows of the batch that have rewards, the first of them at `first`. */
type RewardedRows = Pick<LossSlice, "batch" | "weights" | "first">;

/** @param into a number per token, all 0 */
function addRewards(into: Float64Array, rows: RewardedRows, { sources, errored }: Combined): Float64Array {
  for (const source of sources)
    for (let row = 0; row < rows.batch.rows; row++)
      if (source.status[rows.first + row] === status.value && errored[rows.first + row] !== 1)
        addRewardsOfRow(source, row, rows, into);
  return into;
}

function addRewardsOfRow(
  { level, offsets, values }: RewardColumn,
  row: number,
  { batch, weights, first }: RewardedRows,
  into: Float64Array,
): void {
  const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
  const from = offsets[first + row]!;
  for (let i = from; i < offsets[first + row + 1]!; i++) {
    const at = level === "token" ? start + i - from : placeOf(level, i - from, row, { batch, weights });
    if (at >= start && at < end && !Number.isNaN(values[i]!)) into[at]! += values[i]!;
  }
}

/** The last trained token of a row's turn or step, or of the row. */
function placeOf(
  level: RewardColumn["level"],
  nth: number,
  row: number,
  { batch: { offsets, records }, weights }: Pick<RewardedRows, "batch" | "weights">,
): number {
  const [start, end] = [offsets[row]!, offsets[row + 1]!];
  const { turns, steps } = records[row] ?? {};
  const turn = turns?.[nth];
  const part = level === "turn" ? turn && [turn.start, turn.end] : steps?.[nth];
  if (level === "response" || part === undefined) return lastTrained(weights, start, end);
  return lastTrained(weights, start + part[0]!, Math.min(start + part[1]!, end));
}

/**
 * What a value regresses on: the recorded or computed `returns`, else the discounted rewards still to come. Tokens that
 * do not train pass on what comes after them without a discount.
 * @returns that of a part's tokens; overwritten by that of the next
 */
export function returnsOf(whole: WholeInput, gamma: number): (part: LossSlice) => Float64Array {
  const known = whole.batch.columns.returns;
  if (known !== undefined) return ({ from, weights }) => known.subarray(from, from + weights.length);
  const rewards = rewardsOf(whole);
  const space = new Scratch();
  return (part) => {
    const { rows, offsets } = part.batch;
    const returns = addRewards(space.of(part.weights.length).fill(0), part, rewards);
    for (let row = 0; row < rows; row++)
      sumToGo(returns, part.weights, gamma, offsets[row]!, offsets[row + 1]!);
    return returns;
  };
}

/** In place, of a row's tokens. */
function sumToGo(values: Float64Array, weights: Float64Array, gamma: number, from: number, to: number): void {
  let after = 0;
  for (let t = to - 1; t >= from; t--) {
    if (weights[t] === 0) continue;
    after = values[t]! + gamma * after;
    values[t] = after;
  }
}

/** The next token of the same row that trains; −1 after the last. */
export function nextTrained(input: Pick<ObjectiveInput, "batch" | "weights">): Int32Array {
  const { batch, weights } = input;
  const next = new Int32Array(weights.length).fill(-1);
  for (let row = 0; row < batch.rows; row++) {
    let after = -1;
    for (let t = batch.offsets[row + 1]! - 1; t >= batch.offsets[row]!; t--) {
      next[t] = after;
      if (weights[t] !== 0) after = t;
    }
  }
  return next;
}
