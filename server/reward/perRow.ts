import type { Batch, RewardTerm, RolloutRecord, TermValue } from "../seams.ts";

/** A term that looks at one rollout at a time. `length` is the row's number of tokens. */
export const perRow = (judge: (record: RolloutRecord, length: number) => TermValue): RewardTerm => ({
  score: (batch: Batch) =>
    Promise.resolve(
      batch.records.map((record, row) => judge(record, batch.offsets[row + 1]! - batch.offsets[row]!)),
    ),
});

export const value = (number: number): TermValue => ({ kind: "value", value: number });
export const failure = (message: string): TermValue => ({ kind: "error", message });
export const none: TermValue = { kind: "none" };
