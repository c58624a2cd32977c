/**
 * VinePPO: the value of a reasoning step is the mean reward of fresh continuations from its first token. Branches are
 * rows of use `estimate` that name their parent and the token they left it at; they never train.
 *   A(step k) = r + V(s_{k+1}) − V(s_k), with V(terminal) = 0, the same on all tokens of the step.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch, RolloutRecord } from "../../../server/core/rollouts.ts";
import type { Combined } from "../../../server/core/reward.ts";
import type { Advantage } from "../../../server/core/loss.ts";
import { batchOf } from "../../support/batch.ts";

/** Mean reward of the branches of sibling `index` of a group that left it at `token`; NaN where there is none. */
function branchValue(batch: Batch, rewards: Combined, group: number, index: number, token: number): number {
  let [sum, count] = [0, 0];
  batch.records.forEach(({ use, parent }, row) => {
    if (use !== "estimate" || batch.group[row] !== group || parent?.index !== index || parent.token !== token)
      return;
    if (Number.isNaN(rewards.total[row]!)) return;
    sum += rewards.total[row]!;
    count += 1;
  });
  return sum / count;
}

export const monteCarloBranch: Advantage = (rewards, batch) => {
  const advantages = new Float64Array(batch.tokens.length);
  batch.records.forEach((record, row) => {
    if (record.use !== "train") return;
    const values = (record.steps ?? []).map(([start]) =>
      branchValue(batch, rewards, batch.group[row]!, record.index, start),
    );
    (record.steps ?? []).forEach(([start, end], k) => {
      const last = k === values.length - 1;
      const advantage = (last ? rewards.total[row]! : values[k + 1]!) - values[k]!;
      advantages.fill(advantage, batch.offsets[row]! + start, batch.offsets[row]! + end);
    });
  });
  return advantages;
};

// @ts-expect-error a branch point is a token of a sibling, not a token alone
export const noSibling: RolloutRecord["parent"] = { token: 2 };

test("a VinePPO branch: step values come from the estimate rows, which themselves do not train", () => {
  const branch = (token: number): { use: "estimate"; parent: { index: number; token: number } } => ({
    use: "estimate",
    parent: { index: 0, token },
  });
  const batch = batchOf([
    {
      context: [1],
      tokens: [2, 3, 4, 5],
      record: {
        steps: [
          [0, 2],
          [2, 4],
        ],
      },
    },
    { context: [1], tokens: [6, 7], record: branch(0) },
    { context: [1], tokens: [8], record: branch(0) },
    { context: [1, 2, 3], tokens: [4], record: branch(2) },
    { context: [1, 2, 3], tokens: [9], record: branch(2) },
  ]);
  const combined: Combined = {
    sources: [],
    total: Float64Array.of(1, 0, 0.5, 1, 0.5),
    errored: new Uint8Array(5),
  };
  assert.deepEqual([...monteCarloBranch(combined, batch, {})], [0.5, 0.5, 0.25, 0.25, 0, 0, 0, 0, 0]);
  assert.deepEqual([...batch.mask], [1, 1, 1, 1, 0, 0, 0, 0, 0]);
});
