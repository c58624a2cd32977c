/**
 * PRIME: a reward model `prm` learns online from outcome rewards before the advantage is computed, by cross-entropy on
 * σ(Σ_t r_t), and scores every token r_t = β·(log π_prm − log π_ref). The term names its learner; terms without learners
 * (the outcome) are scored first.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TermValue } from "../../../server/core/slots/reward.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Models, Weighed } from "../../../server/core/policy.ts";
import type { Learner, RewardColumn, Rewards, RewardTerm } from "../../../server/core/reward.ts";
import type { Objective } from "../../../server/core/loss.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";

const beta = 0.5;

/** Cross-entropy of the outcome with σ(Σ_t β·(logp − logp_ref)); outcomes are carried as advantages, per row. */
const outcomeCrossEntropy = (reference: Float64Array, outcome: Float64Array): Objective => ({
  channels: ["logp"],
  unit: "sequence",
  loss({ batch, now }): Weighed {
    const slope = new Float64Array(batch.tokens.length);
    let loss = 0;
    for (let row = 0; row < batch.rows; row++) {
      const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
      let score = 0;
      for (let t = start; t < end; t++) score += beta * (now.logp![t]! - reference[t]!);
      const p = 1 / (1 + Math.exp(-score));
      loss -= (outcome[row]! * Math.log(p) + (1 - outcome[row]!) * Math.log(1 - p)) / batch.rows;
      slope.fill((beta * (p - outcome[row]!)) / batch.rows, start, end);
    }
    return { loss, gradients: { logp: slope } };
  },
});

const learner: Learner = {
  model: "prm",
  when: "before_advantage",
  async train(models, batch, rewards) {
    const { logp: reference } = await models
      .get("prm")
      .score(batch, { model: "reference", channels: ["logp"] });
    const objective = outcomeCrossEntropy(reference!, rewards.terms[0]!.values);
    const none = new Float64Array(batch.tokens.length);
    const done = await models
      .get("prm")
      .update(batch, { channels: objective.channels, unit: objective.unit }, (now) =>
        objective.loss({ batch, now, old: {}, advantages: none, weights: none, factors: none }),
      );
    return { "prm/loss": done.loss };
  },
};

/** One row's values, token by token. */
const paid = (batch: Batch, row: number, logp: Float64Array, reference: Float64Array): TermValue => ({
  kind: "values",
  level: "token",
  values: [...logp.subarray(batch.offsets[row]!, batch.offsets[row + 1]!)].map(
    (value, i) => beta * (value - reference[batch.offsets[row]! + i]!),
  ),
});

export const implicitPrm: RewardTerm = {
  learners: [learner],
  async score(batch, { models }) {
    const { logp } = await models.get("prm").score(batch, { model: "prm", channels: ["logp"] });
    const { logp: reference } = await models
      .get("prm")
      .score(batch, { model: "reference", channels: ["logp"] });
    return Array.from({ length: batch.rows }, (_, row) => paid(batch, row, logp!, reference!));
  },
};

// @ts-expect-error a response-level reward is one value, never a list of values
export const wrongLevel: TermValue = { kind: "values", level: "response", values: [1] };

test("PRIME: the reward model moves before its token rewards are read", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"], lr: 2 });
  await models.get("prm").snapshot("reference");
  const batch = batchOf([
    { context: [1], tokens: [2, 3] },
    { context: [1], tokens: [4, 5, 6] },
  ]);
  const outcome: RewardColumn = {
    name: "correct",
    level: "response",
    status: new Uint8Array(2),
    offsets: Int32Array.of(0, 1, 2),
    values: Float64Array.of(1, 0),
    errors: new Map(),
  };
  const rewards: Rewards = { terms: [outcome], weights: [1] };
  const context = {
    models: models satisfies Models,
    tokenizer: fakeTokenizer,
    clock: { step: 0, stageStep: 0 },
  };
  const total = (value: TermValue): number =>
    value.kind === "values" ? value.values.reduce((a, b) => a + b, 0) : Number.NaN;
  assert.deepEqual((await implicitPrm.score(batch, context)).map(total), [0, 0]);
  const losses: number[] = [];
  for (let i = 0; i < 3; i++)
    for (const { train } of implicitPrm.learners ?? [])
      losses.push((await train(models, batch, rewards, context.clock))["prm/loss"]!);
  assert.ok(Math.abs(losses[0]! - Math.log(2)) < 1e-12 && losses[2]! < losses[0]!);
  const [right, wrong] = (await implicitPrm.score(batch, context)).map(total);
  assert.ok(right! > 0 && wrong! < 0);
  assert.equal(models.get("policy").version, 0);
});
