/** Models that learn with the policy from a memory of their own: what they learn, and that a resumed run is the same. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { inLong } from "../../support/thorough.ts";

const brief = "reward.terms={ brief: { use: length, shape: linear } }";
const size = "width: 32, layers: 1, heads: 2, hidden: 48, context: 64";
const critic = (heads: string): string =>
  `models.critic={ base: tiny, ${size}, value_heads: [${heads}], trains: true, optimizer: { use: adamw, lr: 0.01 } }`;

const metricsOf = (run: TestRun, from = 10): Readonly<Record<string, number | string | null>>[] =>
  ofKind(run.records(), "metrics")
    .filter(({ step }) => step >= from)
    .map(({ values }) => values);

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(set);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}

inLong(
  "ArCHer's critic: its own weights, memory and slow copies, actions drawn again; a resumed run is the same",
  async () => {
    const run = await finished(
      brief,
      critic("q1, q2, v1, v2"),
      "models.slow={ polyak: { of: critic, tau: 0.1 } }",
      "advantage={ baseline: { use: turn_critic, model: critic }, scale: none }",
      "objective={ use: reinforce, aggregate: sequence_sum }",
      "auxiliary=[{ use: learner, model: critic, objective: { use: turn_critic, target: slow, actions: drawn }, each: turn, capacity: 40, rows: 16, updates: 3 }]",
      "checkpoint.keep=9",
    );
    try {
      const steps = metricsOf(run);
      assert.equal(steps[0]!["learner/critic/remembered"], 16);
      assert.equal(steps.at(-1)!["learner/critic/remembered"], 40);
      assert.ok(steps.every((values) => Number(values["learner/critic/loss"]) > 0));
      assert.ok(Number(steps.at(-1)!["learner/critic/loss"]) < Number(steps[0]!["learner/critic/loss"]));
      const whole = run.records();
      rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
    } finally {
      run.remove();
    }
  },
);

test("PPO's critic with weights of its own: after the advantages, over the step's rollouts; a resumed run is the same", async () => {
  const critics =
    "{ use: learner, model: critic, rollouts: step, each: token, rows: 8, updates: 2, objective:";
  const run = await finished(
    brief,
    critic("value"),
    "advantage={ baseline: { use: critic, model: critic }, scale: none, level: token }",
    "objective={ use: clipped }",
    `auxiliary=[${critics} { use: value_clipped, clip: 0.5 } }]`,
    "checkpoint.keep=9",
  );
  try {
    const steps = metricsOf(run);
    const [first, last] = [steps[0]!, steps.at(-1)!].map((values) => (name: string) => Number(values[name]));
    // A head begins at 0: where there was no reward either, the first advantages are 0, and the critic learns after them.
    assert.ok(first!("tokens/trained") < first!("tokens/generated"));
    assert.equal(last!("tokens/trained"), last!("tokens/generated"));
    const nought = last!("learner/critic/value/return") ** 2 + last!("reward/total/std") ** 2;
    assert.ok(last!("learner/critic/value/error") < 0.75 * nought);
    assert.ok(steps.every((values) => !("learner/critic/remembered" in values)));
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});

test("a learner of the policy moves it before its own update, whose ratios are those of the moved weights", async () => {
  const run = await finished(
    brief,
    "model.value_heads=[value]",
    "objective={ use: clipped }",
    "auxiliary=[{ use: learner, model: policy, objective: { use: value_clipped, clip: 0.5 }, each: token, capacity: 40, rows: 8, updates: 1 }]",
  );
  try {
    for (const values of metricsOf(run))
      if (typeof values["update/ratio_max"] === "number") assert.notEqual(values["update/ratio_max"], 1);
    assert.ok(metricsOf(run).some((values) => typeof values["update/ratio_max"] === "number"));
  } finally {
    run.remove();
  }
});

test("without a learner of the policy, the first update's ratios are 1: the log-probs of the rollouts are the current ones", async () => {
  const run = await finished(brief, "objective={ use: clipped }");
  try {
    const ratios = metricsOf(run).map((values) => values["update/ratio_max"]);
    assert.deepEqual([...new Set(ratios)], [1]);
  } finally {
    run.remove();
  }
});
