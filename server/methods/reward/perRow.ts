import { lengthOfRow } from "../../core/rows/batch.ts";
import { cut } from "../../lib/own/cut.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Batch, RolloutRecord } from "../../core/rollouts.ts";
import type { RewardTerm } from "../../core/reward.ts";

/** A term that looks at one rollout at a time. `length`: the row's tokens, what was said to the policy left out. */
export const perRow = (judge: (record: RolloutRecord, length: number) => TermValue): RewardTerm => ({
  score: (batch: Batch) =>
    Promise.resolve(batch.records.map((record, row) => judge(record, lengthOfRow(batch, row)))),
});

export const value = (number: number): TermValue => ({ kind: "value", value: number });
export const failure = (message: string): TermValue => ({ kind: "error", message: cut(message) });
export const none: TermValue = { kind: "none" };
