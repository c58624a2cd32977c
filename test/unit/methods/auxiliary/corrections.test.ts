/** Corrected thoughts: where a thought is, what is learned of it, and that all rounds are remembered. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cutAt } from "../../../../server/run/stages/corrections.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";

test("a response is cut where its thought is", () => {
  assert.deepEqual(cutAt("so <think>2+2=5</think> 5", "think"), {
    before: "so <think>",
    thought: "2+2=5",
    close: "</think>",
  });
  assert.deepEqual(cutAt("<think>no end", "think"), {
    before: "<think>",
    thought: "no end",
    close: "</think>",
  });
  assert.deepEqual(cutAt("bare", "think"), { before: "", thought: "bare", close: "" });
  assert.deepEqual(cutAt("<think>x</think>", ""), { before: "", thought: "<think>x</think>", close: "" });
});

const losses = (run: TestRun, name: string): number[] =>
  ofKind(run.records(), "metrics")
    .map(({ values }) => values[`loss/${name}`])
    .filter((value) => value !== undefined && value !== null)
    .map(Number);

test("what a solver says of the rollouts is learned, of all rounds; a resumed run is the same", async () => {
  const run = testRun([
    "checkpoint.keep=9",
    "auxiliary=[{ use: corrections, of: wrong, rows: 16, weight: 1 }]",
    "update.optimizer.lr=0.004",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const found = losses(run, "corrections");
    assert.equal(found.length, 10);
    assert.ok(found.at(-1)! < 0.9 * found[0]!, found.join());
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});

test("a model of the run corrects, where its question fits", async () => {
  const run = testRun([
    "model.context=96",
    "auxiliary=[{ use: corrections, model: reference, ask: '{prompt}{thought}=', max_tokens: 4, rows: 4 }]",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    assert.ok(losses(run, "corrections").every((loss) => Number.isFinite(loss) && loss > 0));
    assert.equal(losses(run, "corrections").length, 10);
  } finally {
    run.remove();
  }
});
