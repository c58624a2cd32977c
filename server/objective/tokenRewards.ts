/** Rewards and returns per token, for the losses that regress on them. */
import { UserError } from "../../shared/errors.ts";
import { status, type ObjectiveInput, type RewardColumn } from "../seams.ts";
import { lastTrained } from "./spans.ts";

/** Rewards where they are paid: a token's at the token, a step's or turn's and the response's at its last trained token. */
export function tokenRewards({ batch, rewards, weights }: ObjectiveInput): Float64Array {
  if (rewards === undefined)
    throw new UserError("the objective regresses on rewards, and the rollouts have none", {
      code: "rewards-missing",
      action: "Record `rewards` or `reward` with the rollouts, or record `returns` per token.",
    });
  const paid = new Float64Array(batch.tokens.length);
  for (const source of rewards.sources)
    for (let row = 0; row < batch.rows; row++)
      if (source.status[row] === status.value && rewards.errored[row] !== 1) payRow(source, row, paid);
  return paid;

  function payRow({ level, offsets, values }: RewardColumn, row: number, into: Float64Array): void {
    const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
      const at = place(level, row, i - offsets[row]!, start, end);
      if (at >= start && at < end) into[at]! += values[i]!;
    }
  }
  function place(level: RewardColumn["level"], row: number, nth: number, start: number, end: number): number {
    if (level === "token") return start + nth;
    const record = batch.records[row];
    const part =
      level === "turn"
        ? record?.turns?.[nth] && [record.turns[nth].start, record.turns[nth].end]
        : record?.steps?.[nth];
    if (level === "response" || part === undefined) return lastTrained(weights, start, end);
    return lastTrained(weights, start + part[0]!, Math.min(start + part[1]!, end));
  }
}

/**
 * What a value regresses on: the recorded or computed `returns`, else the discounted rewards still to come. Tokens that
 * do not train pass on what comes after them without a discount.
 */
export function returnsOf(input: ObjectiveInput, gamma: number): Float64Array {
  const { batch, weights } = input;
  const known = batch.columns.returns;
  if (known !== undefined) return known;
  const returns = tokenRewards(input);
  for (let row = 0; row < batch.rows; row++) {
    let after = 0;
    for (let t = batch.offsets[row + 1]! - 1; t >= batch.offsets[row]!; t--) {
      if (weights[t] === 0) continue;
      after = returns[t]! + gamma * after;
      returns[t] = after;
    }
  }
  return returns;
}

/** The next token of the same row that trains; −1 behind the last. */
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
