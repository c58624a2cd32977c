/** Terms of `reward.gold`: they score greedy held-out answers, and take no part in training. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";

test("a gold term scores the greedy held-out answers alone, task by task, and is no part of the reward", async () => {
  const run = testRun([
    "reward={ terms: { correct: { use: format, pattern: '.*' }, expert: { use: length, weight: 0 } }, combine: product, gold: [expert] }",
    "rollout={ prompts: 2, group: 2, max_tokens: 4 }",
    "evaluation={ every: 1, prompts: 4, samples: 2, pass_at: [1], record: 4 }",
    "stages=[{ name: only, steps: 1 }]",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").map(({ row }) => row);
    const scoredBy = (use: string, index?: number): boolean[] =>
      rows
        .filter((row) => row.use === use && (index === undefined || row.index === index))
        .map(({ rewards }) => rewards !== undefined && "expert" in rewards && rewards["expert"] !== null);
    assert.ok(scoredBy("train").length > 0 && !scoredBy("train").includes(true));
    assert.ok(scoredBy("evaluate", 0).length > 0 && !scoredBy("evaluate", 0).includes(false));
    assert.ok(!scoredBy("evaluate", 1).includes(true));
    const [first] = ofKind(run.records(), "evaluation");
    const golds = first!.results!.gold!["expert"]!;
    assert.equal(golds.length, first!.results!.tasks.length);
    const mean = golds.reduce((sum: number, one) => sum + one!, 0) / golds.length;
    assert.ok(Math.abs(Number(first!.metrics["eval/reward/expert"]) - mean) < 1e-12);
    // A factor of weight 0 would make the product something else.
    assert.equal(first!.metrics["eval/reward/total"], first!.metrics["eval/reward/correct"]);
  } finally {
    run.remove();
  }
});
