/** An optimiser that begins afresh within a stage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";

const small = [
  // Rewarded by length, even a model that has learned nothing earns something.
  "reward.terms={ correct: null, short: { use: length, shape: linear, limit: 24 } }",
  "rollout={ prompts: 3, group: 4, max_tokens: 12 }",
  "evaluation={ prompts: 2, pass_at: [1] }",
  "model={ width: 32, layers: 1, heads: 2, hidden: 48 }",
  "advantage={ baseline: none, scale: none }",
  "update.optimizer={ use: adamw, lr: 0.002 }",
];

/** The gradient's norm at each step: the same only where the weights before it were. */
async function norms(...set: readonly string[]): Promise<unknown[]> {
  const run = testRun([...small, ...set]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    return ofKind(run.records(), "metrics").map(({ values }) => values["update/grad_norm"]);
  } finally {
    run.remove();
  }
}

test("reset_every forgets what a stage with reset_optimizer forgets", async () => {
  const stages = [1, 2, 3].map(
    (n) => `{ name: part${n}, steps: 2${n === 1 ? "" : ", on_enter: [reset_optimizer]"} }`,
  );
  const within = await norms("stages=null", "steps=6", "update.reset_every=2");
  assert.deepEqual(within, await norms(`stages=[${stages.join(", ")}]`));
  assert.notDeepEqual(within, await norms("stages=null", "steps=6"));
});
