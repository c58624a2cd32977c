/** Best checkpoints and early ends, in whole runs on the real engine. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readBest } from "../../../shared/run/bestCheckpoint.ts";
import { checkpointFolder } from "../../../server/run/checkpoint/checkpoint.ts";
import { resolveCheckpoint } from "../../../server/run/checkpoint/checkpoints.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";

const kept = (folder: string): number[] =>
  readdirSync(join(folder, "checkpoints"))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

test("the checkpoint of the best evaluation stays next to the latest", async () => {
  // A rate that spoils what the warm-up taught: the first evaluation of practice, after step 9, is the best.
  const run = testRun([
    "checkpoint.best={ metric: eval/greedy }",
    "checkpoint.keep=1",
    "checkpoint.every=1",
    "stages.warm-up.steps=60",
    "stages.warm-up.update.optimizer.lr=0.02",
    "stages.practice.steps=6",
    "stages.practice.update.optimizer.lr=0.5",
    "evaluation.every=2",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const values = ofKind(records, "evaluation").map(({ step, metrics }) => ({
      step,
      value: metrics["eval/greedy"]!,
    }));
    assert.ok(values.length >= 3);
    const top = Math.max(...values.map(({ value }) => value));
    const first = values.find(({ value }) => value === top)!;
    assert.ok(first.step < 65, JSON.stringify(values));
    assert.deepEqual(readBest(run.folder), { step: first.step, metric: "eval/greedy", value: top });
    assert.deepEqual(kept(run.folder), [first.step, 65]);
    const told = ofKind(records, "checkpoint").filter(({ best }) => best !== undefined);
    assert.deepEqual(told.at(-1)!.best, { metric: "eval/greedy", value: top });
    assert.equal(
      resolveCheckpoint(`${run.folder}@best`),
      join(checkpointFolder(run.folder, first.step), "policy"),
    );
    assert.equal(resolveCheckpoint(`${run.folder}@65`), resolveCheckpoint(`${run.folder}@last`));
    // What the best checkpoint's loop remembers is its own evaluation.
    const state: unknown = JSON.parse(
      readFileSync(join(checkpointFolder(run.folder, first.step), "state.json"), "utf8"),
    );
    assert.match(JSON.stringify(state), new RegExp(`"best":${top}`));
  } finally {
    run.remove();
  }
});

test("a run that keeps no best says so when asked for it", async () => {
  const run = testRun(["stages.warm-up.steps=1", "stages.practice.steps=1"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    assert.throws(() => resolveCheckpoint(`${run.folder}@best`), /keeps no best checkpoint/);
  } finally {
    run.remove();
  }
});

test("a stage ends when evaluations have stopped improving, at that evaluation, and the run is finished", async () => {
  const run = testRun([
    "stages.practice.steps=50",
    "stages.practice.update.optimizer.lr=0",
    "stages.practice.until={ metric: eval/greedy, patience: 2, min_delta: 0.01 }",
    "evaluation.every=3",
    "checkpoint.every=50",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    // The first value after step 9, two more without an improvement: 3 and 6 steps of practice later.
    assert.equal(ofKind(records, "metrics").length, 16);
    assert.equal(ofKind(records, "end")[0]!.status, "finished");
    const [event] = ofKind(records, "event").filter(({ name }) => name === "stage-ended");
    assert.match(
      event!.message,
      /^Stage practice ended after 6 of 50 steps: eval\/greedy has not risen above its best, [\d.]+, by more than 0.01 for 2 values\.$/,
    );
  } finally {
    run.remove();
  }
});

test("a bound on an evaluation ends the stage before its first step where it holds already", async () => {
  const run = testRun(["stages.practice.until={ metric: eval/greedy, above: -1 }", "checkpoint.every=50"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    assert.equal(ofKind(run.records(), "metrics").length, 10);
    assert.match(
      ofKind(run.records(), "event").find(({ name }) => name === "stage-ended")!.message,
      /eval\/greedy is [\d.]+, above -1\.$/,
    );
  } finally {
    run.remove();
  }
});
