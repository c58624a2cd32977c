/** Advantages that need more of a run than its rewards: a greedy answer, a critic's values, what earlier steps earned. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun, type TestRun } from "../../support/runFolder.ts";

const small = [
  "stages=null",
  // Rewarded by length, even a model that has learned nothing earns something.
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

test("replayed rollouts are valued again, by heads of any name and by what was recorded of their writer", async () => {
  const replay = ["replay={ use: window, share: 0.5, rescore: recomputed }", "advantage.scale=none"];
  const critic = ["model.value_heads=[worth]", "advantage.baseline={ use: critic, head: worth }"];
  const replayed = (run: TestRun) => trained(run).filter(({ row }) => row.source === "replay");
  await ran([...replay, ...critic, "objective.value={ use: value_clipped, head: worth }"], (run) => {
    assert.ok(replayed(run).length > 0);
    for (const { row } of replayed(run)) assert.ok(Number.isFinite(row.advantage));
  });
  await ran([...replay, "advantage.baseline=optimal_token_baseline"], (run) => {
    assert.ok(replayed(run).length > 0);
    const written = trained(run).filter(({ row }) => row.source === "self");
    const known = new Set(written.map(({ columns }) => String(columns.sum_pi_squared)));
    for (const { columns } of replayed(run)) assert.ok(known.has(String(columns.sum_pi_squared)));
  });
});

test("the optimal token baseline: a run scores and keeps Σπ², and advantages are those of the formula", async () => {
  await ran(["advantage.baseline=optimal_token_baseline", "advantage.scale=none"], (run) => {
    const groups = new Map<string, ReturnType<typeof trained>>();
    for (const one of trained(run)) {
      const { logp_old, entropy, sum_pi_squared } = one.columns;
      sum_pi_squared!.forEach((squares, t) => {
        // The chance of the same word twice: at least that of this word twice, and that of a flat spread as wide.
        assert.ok(squares <= 1 + 1e-6 && squares >= Math.exp(2 * logp_old![t]!) - 1e-6);
        assert.ok(squares >= Math.exp(-entropy![t]!) - 1e-6);
      });
      const group = `${one.step}/${one.row.group}`;
      groups.set(group, [...(groups.get(group) ?? []), one]);
    }
    assert.equal(groups.size, 9);
    for (const rows of groups.values()) {
      const energies = rows.map(({ columns: { logp_old, sum_pi_squared } }) => {
        let past = 0;
        return Array.from(logp_old!, (logp, t) => (past += 1 - 2 * Math.exp(logp) + sum_pi_squared![t]!));
      });
      const [longest, second] = energies.map(({ length }) => length).sort((a, b) => b - a);
      rows.forEach(({ row, columns }) =>
        columns.advantages!.forEach((advantage, t) => {
          const here = rows.flatMap((one, i) =>
            energies[i]![t] === undefined ? [] : [[Number(one.row.reward), energies[i]![t]] as const],
          );
          const weighed = sum(here.map(([reward, energy]) => reward * energy));
          const alone = longest! > second! && t >= second!;
          const base = alone ? 0 : weighed / sum(here.map(([, energy]) => energy));
          assert.ok(Math.abs(advantage - (Number(row.reward) - base)) < 1e-6);
        }),
      );
    }
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

test("VinePPO: continuations from every step's beginning are its value; they are not kept, their values are", async () => {
  const set = ["advantage.baseline={ use: monte_carlo, k: 3, split: a }", "advantage.scale=none"];
  await ran(set, (run) => {
    const rows = trained(run);
    assert.equal(rows.length, 18);
    for (const { row, columns } of rows) {
      const [length, values] = [columns.tokens!.length, columns.values!];
      const begins = row.steps!.map(([begin]) => begin);
      assert.deepEqual(
        [...values.keys()].filter((t) => Number.isFinite(values[t])),
        begins,
      );
      // Advantages of steps telescope: weighed by length they are what the row's own advantage says.
      const gains = begins.map((begin, k) => {
        const next = begins[k + 1];
        return (next === undefined ? Number(row.reward) : values[next]!) - values[begin]!;
      });
      const sizes = begins.map((begin, k) => (begins[k + 1] ?? length) - begin);
      const mean = sum(gains.map((gain, k) => gain * sizes[k]!)) / length;
      assert.ok(Math.abs(Number(row.advantage) - mean) < 1e-6);
    }
    assert.ok(rows.some(({ row }) => row.steps!.length > 1));
    assert.ok(ofKind(run.records(), "rollout").every(({ row }) => row.use !== "estimate"));
  });
});
