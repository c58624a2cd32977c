/** Greedy answers and continuations: scored by everything that scores the rollouts, and given up as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { beginning } from "../../../server/run/loop/loop.ts";
import { openModels } from "../../../server/run/models/models.ts";
import { nowhere, Recorder } from "../../../server/run/step/log/recorder.ts";
import { FailedSteps } from "../../../server/run/loop/failedSteps.ts";
import { Interrupted, type Session } from "../../../server/run/loop/session.ts";
import { Trainer } from "../../../server/run/loop/trainer.ts";
import { minimal, ofKind, testRun } from "../../support/runFolder.ts";

const small = [
  "stages=null",
  "reward.terms={ correct: null, short: { use: length, shape: linear, limit: 8 } }",
  "steps=2",
  "rollout={ prompts: 3, group: 2, max_tokens: 6 }",
  "advantage.scale=none",
  "evaluation={ prompts: 2, pass_at: [1] }",
  "model={ width: 32, layers: 1, heads: 2, hidden: 48 }",
];

/** A model of the process reward that learns a lot in every step, and a policy so sure that it writes one thing only. */
const learned = [
  ...small,
  "models={ prm: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 48, trains: true, optimizer: { use: adamw, lr: 0.05 } } }",
  "reward.terms.process={ use: implicit_prm, model: prm, beta: 2, level: response }",
  "reward.success={ terms: [short], at_least: 0.3 }",
  "rollout.temperature=0.0001",
];

test("a greedy answer is scored by the model that learns next to the policy, as it is when it scores the rollouts", async () => {
  const run = testRun([...learned, "advantage.baseline=greedy"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.equal(rows.length, 12);
    for (const { row } of rows) {
      assert.ok(Math.abs(Number(row.rewards?.["process"])) > 1e-3, "the term pays something");
      assert.ok(Math.abs(Number(row.reward) - Number(row.reward_baseline)) < 1e-4);
    }
  } finally {
    run.remove();
  }
});

test("so are continuations: what a state is worth is what is still to come", async () => {
  const baseline = "advantage.baseline={ use: monte_carlo, k: 2 }";
  const run = testRun([
    ...learned,
    baseline,
    "reward.terms.process.level=token",
    "rollout.steps={ regex: . }",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    for (const { row, columns } of rows) {
      const process = row.rewards!["process"];
      assert.ok(typeof process === "object" && process !== null && process.level === "token");
      assert.ok(row.steps!.length > 1);
      for (const [begin] of row.steps!) {
        const earned = process.values.slice(0, begin).reduce((sum: number, value) => sum + Number(value), 0);
        const left = Number(row.reward) - earned;
        assert.ok(Math.abs(columns.values![begin]! - left) < 1e-4, `${columns.values![begin]} for ${left}`);
      }
    }
  } finally {
    run.remove();
  }
});

/** One step of the config; `between` is called between two tokens with how often it was before. */
async function stepped(set: readonly string[], between: (before: number) => void): Promise<void> {
  const { config } = loadConfig(minimal, { set: [...small, ...set] });
  assert.ok(config);
  const models = await openModels(config);
  let calls = 0;
  const session: Session = {
    config,
    policy: models.policy,
    models,
    recorder: new Recorder(nowhere),
    failed: new FailedSteps(),
    signal: new AbortController().signal,
    between: () => Promise.resolve(between(calls++)),
  };
  const trainer = new Trainer(session, undefined, undefined);
  try {
    await trainer.prepare();
    await trainer.enter(0, beginning);
    await trainer.step({ step: 0, stageStep: 0 }, 0);
  } finally {
    await trainer.components.close();
    models.close();
  }
}

for (const baseline of ["greedy", "{ use: monte_carlo, k: 2, split: a }"])
  test(`a step can be given up while it writes what its baseline compares with: ${baseline}`, async () => {
    let own = 0;
    await stepped([], (before) => (own = before + 1));
    assert.ok(own > 0);
    const givenUp = stepped([`advantage.baseline=${baseline}`], (before) => {
      if (before >= own) throw new Interrupted();
    });
    await assert.rejects(givenUp, Interrupted);
  });
