/** Advantages that need more of a run than its rewards: a greedy answer, a critic's values, what earlier steps earned. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun, type TestRun } from "../../support/runFolder.ts";

const small = [
  "stages=null",
  // Paid by length, even a model that has learnt nothing earns something.
  "reward.terms={ correct: null, short: { use: length, shape: linear, limit: 8 } }",
  "steps=3",
  "rollout.prompts=3",
  "rollout.group=2",
  "rollout.max_tokens=6",
  "evaluation.prompts=2",
  "evaluation.pass_at=[1]",
  "model.width=32",
  "model.layers=1",
  "model.heads=2",
  "model.hidden=48",
  "checkpoint.every=1",
];

async function ran(set: readonly string[], look: (run: TestRun) => void | Promise<void>): Promise<void> {
  const run = testRun([...small, ...set]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    await look(run);
  } finally {
    run.remove();
  }
}
const trained = (run: TestRun, attempt = 0) =>
  ofKind(run.records(attempt), "rollout").filter(({ row }) => row.use === "train");
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

test("ReMax: every rollout is compared with its task's greedy answer, which stays out of the log", async () => {
  await ran(["advantage.baseline=greedy", "advantage.scale=none"], (run) => {
    const rows = trained(run);
    assert.equal(rows.length, 18);
    for (const { row } of rows) assert.equal(row.advantage, Number(row.reward) - Number(row.reward_baseline));
    assert.ok(rows.some(({ row }) => row.reward_baseline !== 0));
    assert.ok(ofKind(run.records(), "rollout").every(({ row }) => row.use !== "estimate"));
  });
});

test("a critic's values are read of a head before anything trains, and kept with the rollouts", async () => {
  const set = ["model.value_heads=[value]", "advantage.baseline=critic", "advantage.level=response"];
  const loss = "objective.value={ use: value_clipped, head: value }";
  await ran([...set, loss, "advantage.scale=none", "update.optimizer.lr=0.01"], (run) => {
    const rows = trained(run);
    for (const { row, columns } of rows) {
      const { values } = columns;
      assert.ok(values !== undefined && values.every(Number.isFinite));
      assert.ok(Math.abs(Number(row.advantage) - (Number(row.reward) - values[0]!)) < 1e-6);
    }
    assert.ok(rows.some(({ columns }) => columns.values!.some((value) => value !== 0)));
  });
});

test("a moving average goes on after a resume as if nothing had been", async () => {
  await ran(["advantage.baseline=moving_average", "advantage.scale=none"], async (run) => {
    const steps = new Map<number, number[]>();
    for (const { row } of trained(run)) {
      const known = steps.get(row.step) ?? [];
      steps.set(row.step, [...known, Number(row.reward)]);
      const before = [...steps].filter(([step]) => step < row.step).flatMap(([, rewards]) => rewards);
      const mean = before.length === 0 ? 0 : sum(before) / before.length;
      assert.ok(Math.abs(Number(row.advantage) - (Number(row.reward) - mean)) < 1e-9);
    }
    assert.equal(steps.size, 3);
    // As a worker killed in the last step leaves it.
    rmSync(join(run.folder, "checkpoints", "2"), { recursive: true });
    const last = trained(run).filter(({ row }) => row.step === 2);
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(
      trained(run, 1).map(({ row }) => row.advantage),
      last.map(({ row }) => row.advantage),
    );
  });
});
