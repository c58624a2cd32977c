import assert from "node:assert/strict";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";

test("with advantages scaled to zero a run generates, rewards and counts, and its weights stay", async () => {
  const run = testRun(["advantage.scale=zero", "stages.warm-up.steps=20"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const steps = ofKind(run.records(), "metrics").filter(({ step }) => step >= 20);
    assert.ok(
      steps.every(
        ({ values }) => values["update/grad_norm"] === 0 || values["update/grad_norm"] === undefined,
      ),
    );
    assert.ok(
      ofKind(run.records(), "rollout")
        .filter(({ row }) => row.use === "train")
        .every(({ row }) => row.advantage === 0 || row.advantage === null),
    );
    const [first, ...later] = ofKind(run.records(), "evaluation").map(({ metrics }) => metrics);
    for (const metrics of later) assert.deepEqual(metrics, first);
  } finally {
    run.remove();
  }
});
