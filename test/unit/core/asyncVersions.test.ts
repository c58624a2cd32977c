/**
 * An asynchronous rollout: the weights change while a response is being written, so every token keeps the version and
 * the behaviour log-prob of the weights that wrote it. Staleness is bounded by the mask, and the loss is decoupled:
 *   −(π_prox / π_behaviour) · min(u·A, clip(u, 1 ± ε)·A),  u = π_θ / π_prox,
 * with π_prox the weights at the start of the update (`previous`). Executed, with numbers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Prompt, Sample, Weighed } from "../../../server/core/policy.ts";
import type { BatchMask, Objective } from "../../../server/core/loss.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels } from "../../support/fakePolicy.ts";

const epsilon = 0.2;

/** Tokens written by weights more than `bound` versions ago do not train. */
export const boundedStaleness =
  (bound: number): BatchMask =>
  (batch) =>
    batch.mask.map((value, t) =>
      value === 1 && (batch.version ?? 0) - (batch.columns.versions?.[t] ?? 0) <= bound ? 1 : 0,
    );

export const decoupled: Objective = {
  channels: ["logp"],
  unit: "sequence",
  loss({ now, old, advantages, factors }): Weighed {
    const slope = new Float64Array(factors.length);
    let [loss, largest] = [0, 0];
    factors.forEach((factor, t) => {
      if (factor === 0) return;
      const [proximal, advantage] = [old["logp:previous"]![t]!, advantages[t]!];
      const correction = Math.exp(proximal - old.logp![t]!);
      const ratio = Math.exp(now.logp![t]! - proximal);
      const clipped = Math.min(Math.max(ratio, 1 - epsilon), 1 + epsilon);
      loss -= factor * correction * Math.min(ratio * advantage, clipped * advantage);
      if (ratio * advantage <= clipped * advantage) slope[t] = -factor * correction * ratio * advantage;
      largest = Math.max(largest, correction * ratio);
    });
    return { loss, gradients: { logp: slope }, metrics: { "update/ratio_max": largest } };
  },
};

// @ts-expect-error versions are per token: an answer may span several
export const oneVersion: Pick<Sample, "versions"> = { versions: 3 };

/** Writes `parts` pieces of one response; between two pieces the weights take an update of their own. */
async function interrupted(models: FakeModels, parts: number): Promise<Batch> {
  const policy = models.get("policy");
  const pieces: Sample[] = [];
  let prefix: number[] = [];
  const states = Array.from({ length: models.size }, (_, state) => state);
  for (let part = 0; part < parts; part++) {
    const prompt: Prompt = { tokens: Int32Array.of(0), prefix: Int32Array.from(prefix), key: ["t", part] };
    for await (const sample of policy.generate([prompt], { max_tokens: 2, temperature: 1, seed: 7 }))
      pieces.push(sample);
    prefix = pieces.flatMap((piece) => [...piece.tokens]);
    const other = batchOf(
      states.map((state) => ({ context: [state], tokens: [(state + 5) % states.length] })),
    );
    await policy.update(other, { channels: ["logp"], unit: "sequence" }, () => ({
      loss: 0,
      gradients: { logp: new Float64Array(states.length).fill(-1) },
    }));
  }
  const join = (of: (piece: Sample) => Float64Array | Int32Array): number[] =>
    pieces.flatMap((piece) => [...of(piece)]);
  return batchOf(
    [{ context: [0], tokens: prefix }],
    {
      logp_old: Float64Array.from(join((p) => p.logp_old)),
      versions: Int32Array.from(join((p) => p.versions)),
    },
    { version: policy.version },
  );
}

test("an asynchronous rollout: versions per token, and the bound masks the stale ones", async () => {
  const models = new FakeModels({ size: 12 });
  const batch = await interrupted(models, 3);
  assert.deepEqual([...batch.columns.versions!], [0, 0, 1, 1, 2, 2]);
  assert.equal(batch.version, 3);
  assert.deepEqual([...boundedStaleness(2)(batch, {})], [0, 0, 1, 1, 1, 1]);
  assert.deepEqual([...boundedStaleness(1)(batch, {})], [0, 0, 0, 0, 1, 1]);
});

test("an asynchronous rollout: the ratio is π_θ/π_behaviour of each token's own weights, and its slope is exact", async () => {
  const models = new FakeModels({ size: 12, lr: 0.3 });
  const batch = await interrupted(models, 3);
  const policy = models.get("policy");
  const mask = boundedStaleness(2)(batch, {});
  const factors = Float64Array.from(mask, (m) => m / mask.reduce((a, b) => a + b, 0));
  await policy.snapshot("previous");
  const { logp: previous } = await policy.score(batch, { model: "previous", channels: ["logp"] });
  const old = { logp: batch.columns.logp_old!, "logp:previous": previous! };
  const advantages = Float64Array.of(1, 1, -1, 1, 1, -1);
  const at = (logp: Float64Array): Weighed =>
    decoupled.loss({ batch, now: { logp }, old, advantages, weights: Float64Array.from(mask), factors });
  const first = at(previous!);
  const ratios = [...mask].map((m, t) =>
    m === 0 ? 0 : Math.exp(previous![t]! - batch.columns.logp_old![t]!),
  );
  assert.ok(
    ratios.some((ratio) => ratio > 0 && Math.abs(ratio - 1) > 1e-3),
    "the weights have moved since the tokens were written",
  );
  assert.ok(Math.abs(first.metrics!["update/ratio_max"]! - Math.max(...ratios)) < 1e-12);
  assert.ok(
    Math.abs(first.loss + ratios.reduce((sum, ratio, t) => sum + factors[t]! * ratio * advantages[t]!, 0)) <
      1e-12,
  );
  previous!.forEach((_, t) => {
    const shift = (by: number): number =>
      at(previous!.map((value, i) => (i === t ? value + by : value))).loss;
    assert.ok(Math.abs(first.gradients.logp![t]! - (shift(1e-6) - shift(-1e-6)) / 2e-6) < 1e-7);
  });
  assert.equal(first.gradients.logp![0], 0);
  const done = await policy.update(batch, { channels: ["logp"], unit: "sequence" }, (now) => at(now.logp!));
  assert.ok(Math.abs(done.loss - first.loss) < 1e-12);
});
