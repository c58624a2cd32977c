/**
 * Implicit Language Q-Learning on logged data: nothing is generated, `q` and `v` are heads of the policy, `target` is a
 * slow copy of it. With u = Q_target(s,a) − V(s):
 *   loss = Σ ½(Q(s,a) − [r + γV(s′)])² + ½·|τ − 1(u < 0)|·u² − cql·log softmax(Q(s,·))_a
 * The last term needs the logits of the head, spelt as a channel of the head: `head:q:logp`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel, Weighed } from "../../../server/core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../server/core/loss.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels } from "../../support/fakePolicy.ts";

const [gamma, tau] = [0.9, 0.7];

/** Token-level rewards of the one source, 0 where a source says nothing. */
function tokenRewards({ batch, rewards }: ObjectiveInput): Float64Array {
  const out = new Float64Array(batch.tokens.length);
  for (const source of rewards?.sources ?? []) {
    if (source.level === "token") source.values.forEach((value, t) => (out[t]! += value));
    else for (let row = 0; row < batch.rows; row++) out[batch.offsets[row + 1]! - 1]! += source.values[row]!;
  }
  return out;
}

/** V of the state after each token; 0 after a row's last. */
const following = ({ batch }: ObjectiveInput, v: Float64Array): Float64Array => {
  const ends = new Set(batch.offsets);
  return Float64Array.from(v, (_, t) => (ends.has(t + 1) ? 0 : v[t + 1]!));
};

export const ilql: Objective = {
  channels: ["head:q", "head:v"],
  unit: "sequence",
  loss(input): Weighed {
    const [q, v, target] = [input.now["head:q"]!, input.now["head:v"]!, input.old["head:q"]!];
    const [reward, next] = [tokenRewards(input), following(input, v)];
    const gradients = {
      "head:q": new Float64Array(q.length),
      "head:v": new Float64Array(v.length),
    } satisfies Partial<Record<Channel, Float64Array>>;
    let loss = 0;
    q.forEach((value, t) => {
      const [error, gap, factor] = [
        value - (reward[t]! + gamma * next[t]!),
        target[t]! - v[t]!,
        input.factors[t]!,
      ];
      const weight = gap < 0 ? 1 - tau : tau;
      loss += factor * (0.5 * error ** 2 + 0.5 * weight * gap ** 2);
      gradients["head:q"][t] = factor * error;
      // The bootstrap r + γV(s′) is held constant.
      gradients["head:v"][t] = -factor * weight * gap;
    });
    return { loss, gradients };
  },
};

// @ts-expect-error gradients are columns per token, not one number a channel
export const scalarGradient: Weighed = { loss: 0, gradients: { "head:v": 0.5 } };

test("ILQL on logged data: Q and V approach the discounted return of the log", async () => {
  const models = new FakeModels({ size: 6, heads: ["q", "v"], lr: 0.5 });
  const policy = models.get("policy");
  const batch = batchOf([{ context: [0], tokens: [1, 2, 3], record: { source: "dataset" } }]);
  const rewards = {
    sources: [
      {
        name: "logged",
        level: "token" as const,
        status: new Uint8Array(1),
        offsets: Int32Array.of(0, 3),
        values: Float64Array.of(0, 0, 1),
        errors: new Map(),
      },
    ],
    total: Float64Array.of(1),
    errored: new Uint8Array(1),
  };
  for (let step = 0; step < 300; step++) {
    await policy.snapshot("target", 0.5);
    const old = await policy.score(batch, { model: "target", channels: ["head:q"] });
    await policy.update(batch, { channels: ilql.channels, unit: ilql.unit }, (now) =>
      ilql.loss({
        batch,
        now,
        old,
        rewards,
        advantages: new Float64Array(3),
        weights: new Float64Array(3).fill(1),
        factors: new Float64Array(3).fill(1),
      }),
    );
  }
  const { "head:q": q, "head:v": v } = await policy.score(batch, {
    model: "policy",
    channels: ["head:q", "head:v"],
  });
  [0.81, 0.9, 1].forEach((expected, t) => {
    assert.ok(Math.abs(q![t]! - expected) < 1e-3);
    assert.ok(Math.abs(v![t]! - expected) < 1e-3);
  });
});
