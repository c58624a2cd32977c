/**
 * Direct Preference Optimization on one pair: −log σ(β[(logp − logp_ref)(chosen) − (logp − logp_ref)(rejected)]).
 * The chosen row is the one with the positive advantage. Executed: loss and gradients against finite differences.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Stats, Weighed } from "../../../server/core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../server/core/loss.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels } from "../../support/fakePolicy.ts";

const beta = 0.3;
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function margins({ batch, now, old, advantages }: ObjectiveInput): Float64Array {
  const margin = new Float64Array(Math.max(...(batch.pair ?? [-1])) + 1);
  for (let row = 0; row < batch.rows; row++) {
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      margin[batch.pair![row]!]! += Math.sign(advantages[t]!) * (now.logp![t]! - old["logp:reference"]![t]!);
    }
  }
  return margin;
}

const dpo: Objective = {
  channels: ["logp"],
  unit: "pair",
  loss(input): Weighed {
    const margin = margins(input);
    const slope = new Float64Array(input.batch.tokens.length);
    for (let row = 0; row < input.batch.rows; row++) {
      const pull = (-beta * sigmoid(-beta * margin[input.batch.pair![row]!]!)) / margin.length;
      for (let t = input.batch.offsets[row]!; t < input.batch.offsets[row + 1]!; t++)
        slope[t] = Math.sign(input.advantages[t]!) * pull;
    }
    const losses = margin.map((m) => -Math.log(sigmoid(beta * m)));
    return { loss: losses.reduce((a, b) => a + b, 0) / margin.length, gradients: { logp: slope } };
  },
};

// @ts-expect-error a pair loss reads two rows at once: its unit cannot be a single token
export const wrongUnit: Objective = { ...dpo, unit: "token" };

const pairs = (): Batch =>
  batchOf([
    { context: [1], tokens: [2, 3, 4], pair: 0, record: { pair: "p0" } },
    { context: [1], tokens: [3, 3], pair: 0, record: { pair: "p0" } },
    { context: [5], tokens: [6], pair: 1, record: { pair: "p1" } },
    { context: [5], tokens: [7, 8], pair: 1, record: { pair: "p1" } },
  ]);

const input = (batch: Batch, now: Stats, old: Stats): ObjectiveInput => ({
  batch,
  now,
  old,
  advantages: Float64Array.of(1, 1, 1, -1, -1, 1, -1, -1),
  weights: new Float64Array(8).fill(1),
  factors: new Float64Array(8).fill(1 / 8),
});

async function referenceStats(models: FakeModels, batch: Batch): Promise<Stats> {
  await models.get("policy").snapshot("reference");
  const { logp } = await models.get("policy").score(batch, { model: "reference", channels: ["logp"] });
  return { "logp:reference": logp! };
}

test("a DPO pair: the loss is log 2 at the reference and falls with every update", async () => {
  const models = new FakeModels({ size: 10, lr: 0.5 });
  const batch = pairs();
  const old = await referenceStats(models, batch);
  const losses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const done = await models
      .get("policy")
      .update(batch, { channels: dpo.channels, unit: dpo.unit }, (now) => dpo.loss(input(batch, now, old)));
    losses.push(done.loss);
  }
  assert.ok(Math.abs(losses[0]! - Math.log(2)) < 1e-12);
  for (let i = 1; i < losses.length; i++) assert.ok(losses[i]! < losses[i - 1]!);
});

test("a DPO pair: the gradient by every logp equals a central difference", async () => {
  const models = new FakeModels({ size: 10 });
  const batch = pairs();
  const old = await referenceStats(models, batch);
  const { logp } = await models.get("policy").score(batch, { model: "policy", channels: ["logp"] });
  const moved = logp!.map((value, t) => value + Math.sin(t));
  const { gradients } = dpo.loss(input(batch, { logp: moved }, old));
  const at = (t: number, by: number): number =>
    dpo.loss(input(batch, { logp: moved.map((value, i) => (i === t ? value + by : value)) }, old)).loss;
  for (let t = 0; t < 8; t++)
    assert.ok(Math.abs(gradients.logp![t]! - (at(t, 1e-5) - at(t, -1e-5)) / 2e-5) < 1e-9);
});

test("a DPO pair: one update moves the weights along minus the gradient of the whole loss", async () => {
  const models = new FakeModels({ size: 10, lr: 1 });
  const batch = pairs();
  const old = await referenceStats(models, batch);
  const policy = models.get("policy");
  const { logits } = models.of("policy");
  const before = logits.slice();
  const lossAt = async (i: number, by: number): Promise<number> => {
    logits[i]! += by;
    const now = await policy.score(batch, { model: "policy", channels: ["logp"] });
    logits[i]! -= by;
    return dpo.loss(input(batch, now, old)).loss;
  };
  const numeric: number[] = [];
  for (const i of [12, 23, 34, 33, 56, 57, 78])
    numeric.push(((await lossAt(i, 1e-5)) - (await lossAt(i, -1e-5))) / 2e-5);
  await policy.update(batch, { channels: dpo.channels, unit: dpo.unit }, (now) =>
    dpo.loss(input(batch, now, old)),
  );
  [12, 23, 34, 33, 56, 57, 78].forEach((i, n) =>
    assert.ok(Math.abs(before[i]! - logits[i]! - numeric[n]!) < 1e-9),
  );
});
