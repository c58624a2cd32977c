/** Advantages that a config gives rollouts of texts and rewards alone, and what it says where it cannot. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { estimatesOf, estimatorOf } from "../../../../server/analysis/imported/estimates.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";

const rows: RolloutRow[] = [1, 0, 0, 1, 1, 1].map((reward, at) => ({
  step: 3,
  group: at < 4 ? "a" : "b",
  index: at % 4,
  use: "train",
  rewards: { score: reward, acc: reward },
  reward,
}));
const configOf = (more: string) =>
  loadConfig("/nowhere/sums.gradus.yaml", {
    text: `tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { answer: { use: equation } } }\n${more}\n`,
    recorded: true,
  }).config!;
const estimates = (more: string) => estimatesOf(configOf(more), rows, "3.jsonl");

test("by the config's baseline and scale, whatever its term is called", () => {
  const found = estimates("advantage: { baseline: group_mean, scale: none }");
  assert.deepEqual(found, {
    kind: "estimated",
    advantages: [0.5, -0.5, -0.5, 0.5, 0, 0],
    success: [true, false, false, true, true, true],
  });
  assert.equal(estimatorOf(configOf("")), "grpo");
  assert.equal(estimatorOf(configOf("advantage: { baseline: group_mean, scale: none }")), "dr_grpo");
  assert.equal(estimatorOf(configOf("advantage: { baseline: median, scale: none }")), "median and none");
});

test("a reason where a step of texts does not say enough", () => {
  const reasons = {
    "advantage: { baseline: moving_average, scale: none }": /remembers earlier steps/,
    "advantage: { level: token }": /`advantage.level: token` needs tokens/,
    "kl: [{ model: reference, place: reward, coefficient: 0.1 }]": /log-probs/,
  };
  for (const [more, reason] of Object.entries(reasons)) {
    const found = estimates(more);
    assert.equal(found.kind, "none", more);
    assert.match(found.kind === "none" ? found.reason : "", reason);
  }
});
