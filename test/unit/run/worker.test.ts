/** Whole runs on the real engine, at a size of a second. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { metrics as known } from "../../../shared/metrics/metrics.ts";
import { essence, ofKind, testRun } from "../../support/runFolder.ts";

const temporary = (prefix: string): string => mkdtempSync(join(tmpdir(), prefix));

/** `eval/<arm>/pass@k` and the like as a pattern. */
const patterns = known.map(
  ({ name }) => new RegExp(`^${name.replaceAll(/<\w+>/g, ".+").replace("@k", "@\\d+")}$`),
);

test("a run goes through its stages, records every step and ends finished", async () => {
  const run = testRun();
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const [start] = ofKind(records, "start");
    assert.equal(start!.resumed_at, null);
    assert.equal(start!.steps, 20);
    assert.match(start!.authored, /name: minimal/);
    assert.deepEqual(
      ofKind(records, "stage").map(({ name, step }) => [name, step]),
      [
        ["warm-up", 0],
        ["practice", 10],
      ],
    );
    assert.deepEqual(
      ofKind(records, "metrics").map(({ step }) => step),
      Array.from({ length: 20 }, (_, step) => step),
    );
    assert.deepEqual(
      ofKind(records, "evaluation").map(({ role, step }) => [role, step]),
      [
        ["first", 9],
        ["periodic", 14],
        ["last", 19],
      ],
    );
    // The same tasks each time, and as many right answers as the metric says.
    const evaluated = ofKind(records, "evaluation").map(({ results, metrics }) => ({ results, metrics }));
    assert.equal(new Set(evaluated.map(({ results }) => JSON.stringify(results?.tasks))).size, 1);
    for (const { results, metrics } of evaluated) {
      assert.equal(results?.tasks.length, 8);
      const rates = results!.right.map((right, i) => right / results!.samples[i]!);
      const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
      assert.ok(Math.abs(mean - metrics["eval/pass@1"]!) < 1e-12);
    }
    const used = ofKind(records, "rollout").map(({ row, step }) => [row.use, step]);
    assert.equal(used.filter(([use]) => use === "train").length, 10 * 16);
    // Three evaluations of 8 tasks: the greedy answer and the first drawn one of each.
    assert.equal(used.filter(([use]) => use === "evaluate").length, 3 * 2 * 8);
    assert.equal(used.filter(([use, step]) => use === "evaluate" && step === 9).length, 2 * 8);
    assert.equal(ofKind(records, "group").length, 10 * 4);
    assert.equal(ofKind(records, "end")[0]!.status, "finished");
    assert.deepEqual(readdirSync(join(run.folder, "checkpoints")).sort(), ["14", "19"]);
  } finally {
    run.remove();
  }
});

test("every metric a run writes is one of the list, and a step of the policy writes those the charts need", async () => {
  const run = testRun(["kl=[{ model: reference, coefficient: 0.01 }]", "rollout.prompts=8"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const names = new Set([
      ...ofKind(records, "metrics").flatMap(({ values }) => Object.keys(values)),
      ...ofKind(records, "evaluation").flatMap(({ metrics }) => Object.keys(metrics)),
    ]);
    assert.deepEqual(
      [...names].filter((name) => !patterns.some((pattern) => pattern.test(name))),
      [],
    );
    for (const wanted of [
      "reward/total",
      "reward/correct",
      "reward/correct/errors",
      "groups/mixed",
      "rollout/length",
      "rollout/truncated",
      "policy/entropy",
      "policy/kl/reference",
      "update/loss",
      "update/grad_norm",
      "update/clip_fraction",
      "mismatch/k3",
      "mismatch/band",
      "groups/zero_advantage",
      "curriculum/reverse_text/2/share",
      "curriculum/reverse_text/2/estimate",
      "tokens/generated",
      "tokens/trained",
      "time/generate",
      "time/total",
      "eval/pass@1",
      "eval/pass@2",
      "eval/greedy",
      "eval/reverse_text/2/pass@1",
    ]) {
      assert.ok(names.has(wanted), `${wanted} is missing`);
    }
    const first = ofKind(records, "metrics").find(({ step }) => step === 10)!;
    assert.ok(
      Math.abs(Number(first.values["policy/kl/reference"])) < 1e-6,
      "the reference is the policy as it enters the first rl stage",
    );
    assert.ok(
      Number(first.values["mismatch/k3"]) < 1e-6,
      "the sampler and the trainer agree on the same tokens",
    );
    const calibrated = ofKind(records, "event").filter(({ name }) => name.startsWith("mismatch"));
    assert.deepEqual(
      calibrated.map(({ name, step }) => [name, step]),
      [["mismatch-calibrated", 10]],
    );
  } finally {
    run.remove();
  }
});

test("training from a checkpoint repeats the lost steps exactly", async () => {
  const run = testRun([
    "kl=[{ model: reference, coefficient: 0.01 }]",
    "curriculum.sampler=boltzmann",
    "tasks.0.lengths=[1, 2]",
    "checkpoint.keep=9",
    "update.mini_batch=8",
    "update.epochs=2",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const whole = run.records();
    // As a worker killed in step 18 leaves it: the last checkpoint is that of step 14.
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    const again = run.records(1);
    assert.equal(ofKind(again, "start")[0]!.resumed_at, 15);
    assert.deepEqual(
      ofKind(again, "metrics").map(({ step }) => step),
      [15, 16, 17, 18, 19],
    );
    assert.deepEqual(essence(again, 15), essence(whole, 15));
    assert.deepEqual(ofKind(run.records(0), "metrics").length, 20, "the superseded attempt stays");
  } finally {
    run.remove();
  }
});

test("a stop is obeyed at a boundary, leaves a checkpoint, and a resumed run goes on as if nothing had been", async () => {
  const straight = testRun();
  const stopped = testRun();
  try {
    await straight.work();
    const control = join(stopped.folder, "control.jsonl");
    appendFileSync(control, '{"id":"c1","action":"checkpoint"}\n{"id":"s1","action":"stop"}\n');
    assert.equal(await stopped.work(), 0);
    assert.equal(ofKind(stopped.records(), "end")[0]!.status, "stopped");
    assert.deepEqual(
      ofKind(stopped.records(), "acknowledge").map(({ id, accepted }) => [id, accepted]),
      [
        ["c1", true],
        ["s1", true],
      ],
    );
    assert.equal(await stopped.work(1), 0);
    assert.equal(ofKind(stopped.records(1), "end")[0]!.status, "finished");
    assert.deepEqual(essence(stopped.records(1), 0), essence(straight.records(), 0));
  } finally {
    straight.remove();
    stopped.remove();
  }
});

test("an edited config does not reach a resumed run", async () => {
  const folder = temporary("gradus-config-");
  const file = join(folder, "own.gradus.yaml");
  const text =
    "name: own\nmodel: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 16 }\ntasks:\n  - { env: reverse_text, lengths: [1] }\nrollout: { max_tokens: 4 }\nstages:\n  - { name: copy, kind: sft, steps: 4, batch: 4 }\ncheckpoint: { every: 2, keep: 9 }\n";
  writeFileSync(file, text);
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    rmSync(join(run.folder, "checkpoints", "3"), { recursive: true });
    writeFileSync(file, "this is: [not a config");
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 2), essence(run.records(0), 2));
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

for (const [what, set, message] of [
  ["a model folder that is missing", ["model.base=./nowhere"], /nowhere/],
  ["a reward that is not there", ["reward.terms.mine={ use: ./missing.ts }"], /missing\.ts/],
  [
    "a dataset whose one line is held out",
    [
      `tasks=[{ dataset: ${JSON.stringify(resolve("test/fixtures/config/lone.jsonl"))}, prompt: "{prompt}", answer: "{answer}" }]`,
      "reward={ terms: { correct: exact_match } }",
      "stages=[{ name: practice, steps: 1 }]",
    ],
    /no task to train on.*held out for evaluation/,
  ],
  ["a reward of a later version", ["reward.terms.mine={ use: ./missing.py:score }"], /missing\.py|Python/],
] as const) {
  test(`${what} fails the run: end record, event with an action, exit code 1`, async () => {
    const run = testRun(set);
    try {
      assert.equal(await run.work(), 1);
      const records = run.records();
      assert.equal(ofKind(records, "start").length, 1);
      const [end] = ofKind(records, "end");
      assert.equal(end!.status, "failed");
      assert.match(end!.message, message);
      const error = ofKind(records, "event").find(({ severity }) => severity === "error");
      assert.ok(error?.action !== undefined && error.action.length > 10);
      assert.equal(existsSync(join(run.folder, "lease")), false);
    } finally {
      run.remove();
    }
  });
}

test("a reward that throws on some rollouts is an error there, never 0, and the run goes on", async () => {
  const folder = temporary("gradus-reward-");
  writeFileSync(
    join(folder, "moody.ts"),
    "export function score({ index }) { if (index === 1) throw new Error('not today'); if (index === 2) return NaN; return index; }\n",
  );
  const run = testRun([
    `reward.terms.moody={ use: ${join(folder, "moody.ts")} }`,
    "stages.practice.steps=2",
    "stages.warm-up.steps=1",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rollouts = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    for (const { row } of rollouts) {
      const failed = row.index === 1 || row.index === 2;
      assert.equal(row.rewards!["moody"] === undefined, failed);
      assert.equal(row.errors?.["moody"] !== undefined, failed);
      assert.equal(row.advantage === null, failed, "an errored rollout leaves its group");
    }
    const [step] = ofKind(run.records(), "metrics").filter(({ step: n }) => n === 1);
    assert.equal(step!.values["reward/moody/errors"], 8);
    assert.ok(
      ofKind(run.records(), "event").some(
        ({ name, message }) => name === "reward-error" && message.includes("not today"),
      ),
    );
    assert.equal(Object.keys(ofKind(run.records(), "start")[0]!.bundles).join(), "moody");
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

test("a reward that fails on every rollout ends the run after some steps, with its first cause", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-broken-"));
  writeFileSync(
    join(folder, "broken.ts"),
    "let calls = 0;\nexport function score() { throw new Error(`call ${++calls} of a reward that never worked`); }\n",
  );
  const run = testRun([
    `reward.terms.correct={ use: ${join(folder, "broken.ts")} }`,
    "reward.max_failed_steps=2",
    "stages.practice.steps=6",
    "stages.warm-up.steps=1",
  ]);
  try {
    assert.equal(await run.work(), 1);
    const [end] = ofKind(run.records(), "end");
    assert.match(
      end!.message,
      /^The reward failed on every rollout of 2 steps in a row, so nothing was trained\. First, at step 1: Reward term correct failed: .*call \d+ of a reward that never worked/,
    );
    // What the failed steps recorded is there.
    assert.deepEqual(
      [
        ...new Set(
          ofKind(run.records(), "rollout")
            .filter(({ row }) => row.use === "train")
            .map(({ step }) => step),
        ),
      ],
      [1, 2],
    );
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

test("a loss that is no number fails the run and names the remedy", async () => {
  const run = testRun(["stages.warm-up.update.optimizer.lr=1.0e+30", "update.optimizer.clip_norm=null"]);
  try {
    assert.equal(await run.work(), 1);
    const [end] = ofKind(run.records(), "end");
    assert.match(end!.message, /update\/(loss|grad_norm) is .* Lower update\.optimizer\.lr/);
  } finally {
    run.remove();
  }
});

test("a second worker of the same run is refused while the first one lives", async () => {
  const run = testRun();
  try {
    const first = run.work();
    await assert.rejects(run.work(1), /already works on this run/);
    assert.equal(await first, 0);
  } finally {
    run.remove();
  }
});
