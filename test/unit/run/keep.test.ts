/** Updates that an evaluation undoes, in whole runs on the real engine. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkpointSteps } from "../../../server/run/checkpoint/checkpoint.ts";
import { decide } from "../../../server/run/loop/keeping.ts";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { inLong } from "../../support/thorough.ts";

/** A warm-up that teaches something, then a rate that spoils it: what practice trains is worse at every evaluation. */
const spoils = [
  "stages.warm-up.steps=60",
  "stages.warm-up.update.optimizer.lr=0.02",
  "stages.practice.steps=6",
  "stages.practice.update.optimizer.lr=0.5",
  "evaluation.every=2",
  "evaluation.prompts=16",
];
const keeps = "evaluation.keep={ metric: eval/greedy }";

const weightsAt = (run: TestRun, folder: string): string =>
  readFileSync(join(run.folder, folder, "policy", "model.safetensors")).toString("base64");
const greedy = (run: TestRun, attempt = 0): number[] =>
  ofKind(run.records(attempt), "evaluation").map(({ metrics }) => metrics["eval/greedy"]!);
const undone = (run: TestRun, attempt = 0): string[] =>
  ofKind(run.records(attempt), "event").flatMap(({ name, message }) =>
    name === "update-undone" ? [message] : [],
  );
const keptFolders = (run: TestRun): string[] =>
  readdirSync(join(run.folder, "models")).filter((name) => name.startsWith("kept-"));

test("what an evaluation finds worse is undone: the run ends with the weights that it kept, where it spoils them without", async () => {
  const [free, gated] = [testRun(spoils), testRun([...spoils, keeps])];
  try {
    assert.equal(await free.work(), 0, free.ending());
    assert.equal(await gated.work(), 0, gated.ending());
    const [before, ...after] = greedy(free);
    assert.ok(after.length === 3 && after.every((value) => value < before!), JSON.stringify([before, after]));
    assert.deepEqual(undone(free), []);

    // Steps 60 to 65 in pairs; the last evaluation is taken again, of what is left.
    const messages = undone(gated);
    assert.equal(messages.length, 3);
    assert.match(
      messages[0]!,
      /^Steps 60 to 61 are undone: eval\/greedy is [\d.]+, where [\d.]+ or more keeps them\. The policy and its optimiser are as they were after step 59\.$/,
    );
    assert.match(messages[1]!, /^Steps 62 to 63 are undone/);
    const values = greedy(gated);
    assert.equal(values[0], before);
    assert.equal(values.at(-1), before);
    const roles = ofKind(gated.records(), "evaluation").map(({ role }) => role);
    assert.deepEqual(roles, ["first", "periodic", "periodic", "last", "last"]);
    assert.deepEqual(
      ofKind(gated.records(), "metrics")
        .map(({ values: of }) => of["update/undone"])
        .slice(60),
      [0, 0, 2, 2, 4, 4],
    );

    // Bit by bit: weights and moments of the last checkpoint are those that were kept.
    assert.deepEqual(keptFolders(gated), ["kept-60"]);
    assert.equal(weightsAt(gated, "checkpoints/65"), weightsAt(gated, "models/kept-60"));
    const moments = (folder: string): string =>
      readFileSync(join(gated.folder, folder, "policy", "optimizer.safetensors")).toString("base64");
    assert.equal(moments("checkpoints/65"), moments("models/kept-60"));
    assert.notEqual(weightsAt(free, "checkpoints/65"), weightsAt(gated, "checkpoints/65"));
    // Versions go on counting: weights that are put back are none that earlier rollouts were written with.
    const version = (folder: string): number =>
      JSON.parse(readFileSync(join(gated.folder, folder, "policy", "state.json"), "utf8")).version;
    const trained = ofKind(gated.records(), "metrics").slice(60);
    const updates = trained.filter(({ values: of }) => Number(of["update/grad_norm"]) > 0).length;
    assert.equal(version("checkpoints/65"), version("models/kept-60") + updates + 3);
  } finally {
    free.remove();
    gated.remove();
  }
});

inLong(
  "a run that is killed goes on as if it had not been, before an evaluation undoes what it trained and after",
  async () => {
    const settings = [
      ...spoils,
      keeps,
      "checkpoint.every=1",
      "checkpoint.keep=20",
      "models.slow={ polyak: { of: policy, tau: 0.5 } }",
    ];
    const [whole, cut] = [testRun(settings), testRun(settings)];
    try {
      assert.equal(await whole.work(), 0, whole.ending());
      assert.equal(await cut.work(), 0, cut.ending());
      for (const [attempt, last] of [60, 61, 63].entries()) {
        for (const step of checkpointSteps(cut.folder))
          if (step > last) rmSync(join(cut.folder, "checkpoints", String(step)), { recursive: true });
        assert.equal(await cut.work(attempt + 1), 0, cut.ending(attempt + 1));
        assert.deepEqual(essence(cut.records(attempt + 1), last + 1), essence(whole.records(), last + 1));
        for (const file of ["policy/model.safetensors", "snapshots/policy/slow.safetensors"])
          assert.deepEqual(
            readFileSync(join(cut.folder, "checkpoints", "65", file)),
            readFileSync(join(whole.folder, "checkpoints", "65", file)),
            `${file} from step ${last}`,
          );
      }
    } finally {
      whole.remove();
      cut.remove();
    }
  },
);

test("updates that do no harm stay, and only what a checkpoint may go back to is kept on disk", async () => {
  const run = testRun([
    keeps,
    "stages.practice.update.optimizer.lr=0",
    "evaluation.every=1",
    "checkpoint.every=1",
    "checkpoint.keep=1",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    assert.deepEqual(undone(run), []);
    assert.deepEqual(keptFolders(run), ["kept-20"]);
    assert.ok(existsSync(join(run.folder, "models", "kept-20", "policy", "optimizer.safetensors")));
  } finally {
    run.remove();
  }
});

test("an update stays where J(new) - J(kept) is at least the gain, in the metric's own direction", () => {
  const kept = { done: 4, value: 0.5, compared: 6 };
  const kind = (mode: "max" | "min", gain: number, value: number): string | undefined =>
    decide({ metric: "eval/x", mode, gain }, { "eval/x": value }, 8, kept)?.kind;
  assert.equal(kind("max", 0, 0.5), "keep");
  assert.equal(kind("max", 0, 0.49), "undo");
  assert.equal(kind("max", 0.25, 0.7), "undo");
  assert.equal(kind("max", 0.25, 0.75), "keep");
  assert.equal(kind("max", -0.25, 0.25), "keep");
  assert.equal(kind("min", 0, 0.51), "undo");
  assert.equal(kind("min", 0.25, 0.25), "keep");
  // Nothing to decide: no such value, nothing trained since.
  assert.equal(kind("max", 0, Number.NaN), undefined);
  assert.equal(decide({ metric: "eval/x", mode: "max", gain: 0 }, {}, 8, kept), undefined);
  assert.equal(decide({ metric: "eval/x", mode: "max", gain: 9 }, { "eval/x": 1 }, 6, kept), undefined);
  assert.equal(decide(undefined, { "eval/x": 1 }, 8, kept), undefined);
  assert.deepEqual(decide({ metric: "eval/x", mode: "max", gain: 0 }, { "eval/x": 1 }, 8, kept), {
    kind: "keep",
    kept: { done: 8, value: 1, compared: 8 },
  });
});
