/** Runs of every kind of stage and every construct of a stage list. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";

const fixture = (name: string): string => resolve("test/fixtures/stages", `${name}.gradus.yaml`);

async function ran(name: string, look: (run: TestRun) => void | Promise<void>): Promise<void> {
  const run = testRun([], fixture(name));
  try {
    assert.equal(await run.work(), 0, run.ending());
    await look(run);
  } finally {
    run.remove();
  }
}
const metric = (run: TestRun, name: string): Map<number, number> =>
  new Map(
    ofKind(run.records(), "metrics").flatMap(({ step, values }) =>
      values[name] === undefined ? [] : [[step, Number(values[name])]],
    ),
  );
const stages = (run: TestRun): string[] =>
  ofKind(run.records(), "stage").map(({ step, name, stage_kind }) => `${step} ${name} ${stage_kind}`);

/** Goes back to the checkpoint of each step in turn, the latest first, and trains on: every step is the one it was. */
async function resumes(run: TestRun, steps: readonly number[]): Promise<void> {
  const folder = join(run.folder, "checkpoints");
  const before = run.records();
  let attempt = 0;
  for (const step of steps) {
    for (const later of readdirSync(folder))
      if (Number(later) > step) rmSync(join(folder, later), { recursive: true });
    attempt += 1;
    assert.equal(await run.work(attempt), 0, run.ending(attempt));
    assert.deepEqual(
      essence(run.records(attempt), step + 1),
      essence(before, step + 1),
      `after step ${step}`,
    );
  }
}

test("plain text: next tokens, thoughts rewarded by what they add, segments predicted, thoughts that get shorter", async () => {
  await ran("text", (run) => {
    assert.deepEqual(stages(run), ["0 read pretrain", "3 think rl", "5 foretell rl", "7 middle rl"]);
    const loss = [...metric(run, "update/loss").values()];
    assert.ok(loss[2]! < loss[0]!, "the text is learnt");
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.ok(rows.some(({ step, row }) => step < 5 && Number(row.rewards?.["gain"]) !== 0));
    assert.ok(
      rows.every(({ step, row }) => (step >= 5 && step < 7) === (row.rewards?.["match"] !== undefined)),
    );
    const longest = (step: number): number =>
      Math.max(...rows.filter((one) => one.step === step).map(({ columns }) => columns.tokens!.length));
    assert.deepEqual([longest(7), longest(8)], [6, 2]);
    assert.deepEqual([...metric(run, "loss/next_token").keys()], [7, 8]);
  });
});

test("pairs: the first loss is ln 2, the head learns as well, own answers are pairs, the mean is between", async () => {
  await ran("pairs", (run) => {
    assert.deepEqual(
      stages(run).map((line) => line.split(" ").slice(1).join(" ")),
      [
        "warm-up sft",
        "prefer preference",
        "judge reward_model",
        "own preference",
        "mean merge",
        "practise rl",
      ],
    );
    assert.ok(Math.abs(metric(run, "update/loss").get(2)! - Math.LN2) < 1e-5);
    assert.deepEqual([...metric(run, "learner/judge/loss").keys()], [6, 7, 8, 9]);
    assert.ok(metric(run, "merge/moved").get(11)! > 0);
  });
});

test("turns, crossfades, carried tasks, merges and the matrix go on after a resume as if nothing had been", async () => {
  await ran("constructs", async (run) => {
    assert.deepEqual(stages(run), [
      "0 warm-up sft",
      "3 easy rl",
      "6 crossed rl",
      "9 rounds alternate",
      "9 right rl",
      "11 brief rl",
      "12 right rl",
      "14 brief rl",
      "15 right rl",
      "16 hard rl",
    ]);
    const matrix = ofKind(run.records(), "evaluation").filter(({ role }) => role === "matrix");
    assert.deepEqual(
      matrix.map(({ stage }) => stage),
      ["warm-up", "easy", "crossed", "rounds", "hard"],
    );
    for (const { metrics } of matrix)
      for (const name of ["warm-up", "easy", "crossed", "right", "brief", "hard"])
        assert.ok(Number.isFinite(metrics[`eval/${name}/pass@1`]), name);
    // Within the carried tasks, at a turn's end, within a turn, at a stage's end, within the crossfade.
    await resumes(run, [17, 13, 10, 8, 6]);
  });
});

test("a crossfade draws from the stage before and scores by it, less and less", async () => {
  await ran("constructs", (run) => {
    const rows = ofKind(run.records(), "rollout").filter(
      ({ row, step }) => row.use === "train" && step >= 6 && step < 9,
    );
    const share = (step: number): number => {
      const own = rows.filter((one) => one.step === step);
      return own.filter(({ row }) => row.task?.arm?.startsWith("longer") === true).length / own.length;
    };
    // Own share (1 − cos πt)/2 of 4 prompts at t = 0, 1/2, 1.
    assert.deepEqual([share(6), share(7), share(8)], [0, 0.5, 1]);
    const { config } = loadConfig(fixture("constructs"));
    const crossed = config?.stages.find(({ name }) => name === "crossed");
    const weights = crossed?.body.reward.terms.map(({ name, weight }) => [name, weight]);
    const moving = (from: number, to: number): object => ({
      schedule: "cosine",
      from,
      to,
      over: 2,
      start: 0,
      clock: "stage",
    });
    assert.deepEqual(weights, [
      ["correct", 1],
      ["short", moving(0.5, 0)],
      ["form", moving(0, 1)],
    ]);
  });
});

test("a merge with a checkpoint of another run: all of it is the checkpoint, one of another size is refused", async () => {
  const first = testRun(["stages=null", "steps=1", "seed=8"], fixture("small"));
  const wide = testRun(["stages=null", "steps=1", "model.width=48"], fixture("small"));
  const runs = [first, wide];
  try {
    for (const run of runs) assert.equal(await run.work(), 0, run.ending());
    const checkpoint = (run: TestRun): string =>
      join(run.folder, "checkpoints", readdirSync(join(run.folder, "checkpoints")).at(-1)!);
    const merged = (run: TestRun): TestRun => {
      const stages = `stages=[{ name: mean, kind: merge, merge: [{ checkpoint: ${checkpoint(run)} }] }, { name: again, steps: 1, update: { optimizer: { lr: 0 } } }]`;
      const made = testRun([stages], fixture("small"));
      runs.push(made);
      return made;
    };
    const same = merged(first);
    assert.equal(await same.work(), 0, same.ending());
    const weights = (run: TestRun): Buffer =>
      readFileSync(join(checkpoint(run), "policy", "model.safetensors"));
    assert.deepEqual(weights(same), weights(first));
    const other = merged(wide);
    assert.equal(await other.work(), 1);
    assert.match(other.ending(), /model of another size|cannot be merged/);
  } finally {
    for (const run of runs) run.remove();
  }
});

test("adapters are merged as what they add, and what their rank leaves out is reported", async () => {
  const stages =
    "stages=[{ name: one, steps: 2, on_enter: { snapshot: fresh } }, { name: two, steps: 2, on_enter: { snapshot: half } }, { name: same, kind: merge, merge: [{ model: policy }, { stage: two }] }, { name: mean, kind: merge, merge: [{ stage: one }, { stage: two, weight: 3 }] }, { name: after, steps: 1 }]";
  const adapter = "model.adapter={ rank: 2, alpha: 4, targets: [q, v] }";
  const run = testRun([stages, adapter, "update.optimizer.lr=0.01"], fixture("small"));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const [moved, lost] = ["merge/moved", "merge/lost"].map((name) => metric(run, name));
    assert.ok(moved!.get(4)! < 1e-5 && lost!.get(4)! < 1e-5, "merged with itself it stays what it is");
    assert.ok(moved!.get(5)! > 1e-4);
    assert.ok(lost!.get(5)! >= 0 && lost!.get(5)! < 0.5);
    await resumes(run, [4]);
  } finally {
    run.remove();
  }
});

test("an adapter of another run is merged where its base is the same, and refused where it is not", async () => {
  const adapter = [
    "model.adapter={ rank: 2, alpha: 4, targets: [q, v] }",
    "update.optimizer.lr=0.01",
    "stages=null",
    "steps=1",
  ];
  const runs = [adapter, [...adapter, "seed=8"], [...adapter, "model.adapter.rank=3"]].map((set) =>
    testRun(set, fixture("small")),
  );
  const [same, drawn, rank] = runs as [TestRun, TestRun, TestRun];
  try {
    for (const run of runs) assert.equal(await run.work(), 0, run.ending());
    const merging = (run: TestRun): TestRun => {
      const part = `merge: [{ checkpoint: ${join(run.folder, "checkpoints", readdirSync(join(run.folder, "checkpoints")).at(-1)!)} }]`;
      const stages = `stages=[{ name: own, steps: 1 }, { name: mean, kind: merge, ${part} }, { name: again, kind: merge, ${part} }, { name: after, steps: 1 }]`;
      const made = testRun([adapter[0]!, "update.optimizer.lr=0.03", stages], fixture("small"));
      runs.push(made);
      return made;
    };
    const merged = merging(same);
    assert.equal(await merged.work(), 0, merged.ending());
    const moved = metric(merged, "merge/moved");
    assert.ok(moved.get(1)! > 1e-4 && moved.get(2)! < 1e-5, [...moved].join(" "));
    const other = merging(drawn);
    assert.equal(await other.work(), 1);
    assert.match(other.ending(), /was trained on another base: .* differs/);
    const apart = merging(rank);
    assert.equal(await apart.work(), 1);
    assert.match(apart.ending(), /adapter has rank 3, the policy's has 2/);
  } finally {
    for (const run of runs) run.remove();
  }
});

test("a run without an rl stage is evaluated all the same, by all its steps", async () => {
  const stages =
    "stages=[{ name: copy, kind: sft, steps: 5, batch: 8 }, { name: more, kind: sft, steps: 3, batch: 8 }]";
  const evaluation = "evaluation={ every: 4, prompts: 4, pass_at: [1], record: 0 }";
  const run = testRun([stages, evaluation], fixture("small"));
  const silent = testRun([stages, evaluation, "reward=null"], fixture("small"));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const told = ofKind(run.records(), "evaluation").map(({ step, role, metrics }) => [
      step,
      role,
      metrics["eval/pass@1"] !== undefined,
    ]);
    assert.deepEqual(told, [
      [-1, "first", true],
      [3, "periodic", true],
      [7, "last", true],
    ]);
    await resumes(run, [5]);
    assert.equal(await silent.work(), 0, silent.ending());
    assert.deepEqual(ofKind(silent.records(), "evaluation"), [], "nothing tells right from wrong");
  } finally {
    run.remove();
    silent.remove();
  }
});
