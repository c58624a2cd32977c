import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRewards } from "../../../server/algorithm/advantages/describe.ts";

const scored = (total: readonly number[], errored: readonly number[]) => ({
  rewards: { terms: [], weights: [] },
  combined: { sources: [], total: Float64Array.from(total), errored: Uint8Array.from(errored) },
  success: new Uint8Array(total.length),
});

test("a step's rewards are reported with their extremes, which rollouts without a reward have no part in", () => {
  const metrics = describeRewards(scored([0.5, -1, 9, Number.NaN, 2], [0, 0, 1, 0, 0]));
  assert.deepEqual(
    {
      "reward/total": metrics["reward/total"],
      "reward/total/min": metrics["reward/total/min"],
      "reward/total/max": metrics["reward/total/max"],
    },
    { "reward/total": 0.5, "reward/total/min": -1, "reward/total/max": 2 },
  );
  assert.deepEqual(describeRewards(scored([1], [0])), {
    "rollout/count": 1,
    "rollout/scored": 1,
    "reward/total": 1,
  });
});
