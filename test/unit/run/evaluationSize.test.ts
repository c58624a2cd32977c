/** How many tasks a run evaluates where its config does not say, and what it tells while it does. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  EvaluationProgress,
  type ProgressMessage,
} from "../../../server/run/evaluation/evaluationProgress.ts";
import { evaluationSize, fittingTasks } from "../../../server/run/evaluation/evaluationSize.ts";
import { load } from "../../support/loaded.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { thorough } from "../../support/thorough.ts";

test("an evaluation asks what is answered in a minute, in eights, and never less than 16 tasks", () => {
  assert.equal(fittingTasks(0.1, 128), 128);
  assert.equal(fittingTasks(1, 128), 56);
  assert.equal(fittingTasks(0.5, 128), 120);
  assert.equal(fittingTasks(100, 128), 16);
  assert.equal(fittingTasks(100, 5), 5);
  assert.equal(fittingTasks(0, 128), 128);
});

test("the number is measured once in a run, and is the same when the run is resumed on another machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-evaluation-"));
  try {
    let time = 0;
    const asked: number[] = [];
    const sizing = (secondsEach: number) => ({
      folder,
      most: 128,
      now: () => time,
      ask: (tasks: number): Promise<void> => {
        asked.push(tasks);
        time += 1000 * secondsEach * tasks;
        return Promise.resolve();
      },
    });
    assert.deepEqual(await evaluationSize(sizing(2)), { tasks: 24, secondsEach: 2 });
    // One to warm up, four that are timed.
    assert.deepEqual(asked, [1, 4]);
    assert.deepEqual(await evaluationSize(sizing(0.01)), { tasks: 24 });
    assert.deepEqual(asked, [1, 4]);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, "evaluation.json"), "utf8")), { tasks: 24 });
    writeFileSync(join(folder, "evaluation.json"), "{");
    await assert.rejects(evaluationSize(sizing(1)), /evaluation\.json does not say how many tasks/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("only a number of tasks that is not written is fitted", () => {
  const base = "tasks: [{ env: countdown, numbers: [3, 4] }]\nreward: { terms: { correct: equation } }\n";
  assert.equal(load({ "a.gradus.yaml": base }).config?.evaluation.fits, true);
  const written = `${base}evaluation: { prompts: 128 }\n`;
  assert.equal(load({ "b.gradus.yaml": written }).config?.evaluation.fits, false);
});

test("a long evaluation reports every ten seconds how far it is and what is left; a short one reports nothing", () => {
  const told: ProgressMessage[] = [];
  let time = 0;
  const progress = new EvaluationProgress(
    1000,
    (one) => told.push(one),
    () => time,
  );
  for (let i = 0; i < 10; i++) {
    time += 4000;
    progress.add(100);
  }
  assert.deepEqual(
    told.map(({ message }) => message),
    [
      "Evaluating: 300 of 1000 answers, about 28 s left.",
      "Evaluating: 600 of 1000 answers, about 16 s left.",
      "Evaluating: 900 of 1000 answers, about 4 s left.",
    ],
  );
  assert.deepEqual(told[0]?.data, { answers: 300, of: 1000, seconds_left: 28 });
});

// Thirty-five million weights take seconds: the longest test of its room.
if (thorough)
  test("a large model's run says how many tasks it evaluates, and first and last evaluation ask the same", async () => {
    const run = testRun([
      "model={ base: tiny, width: 768, layers: 6, heads: 4, hidden: 1536, context: 96 }",
      "evaluation.prompts=null",
      "evaluation.pass_at=[1]",
      "rollout={ prompts: 2, group: 2, max_tokens: 4 }",
      "stages=[{ name: only, steps: 1 }]",
    ]);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const [told] = ofKind(run.records(), "event").filter(({ name }) => name === "evaluation-size");
      assert.match(told?.message ?? "", /Each evaluation asks \d+ of 128 held-out tasks, 2 answers each/);
      const { tasks } = JSON.parse(readFileSync(join(run.folder, "evaluation.json"), "utf8"));
      assert.ok(tasks >= 16 && tasks <= 128);
      assert.deepEqual(
        ofKind(run.records(), "evaluation").map(({ role }) => role),
        ["first", "last"],
      );
    } finally {
      run.remove();
    }
  });
