import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { Channel } from "../../../server/core/policy.ts";
import { channelsOf, widen, type Public } from "./reference.ts";
import {
  batch,
  coefficientsOf,
  largestDifference,
  open,
  plan,
  rows,
  stir,
  tinyModel,
  weighBy,
  type RowSpec,
} from "./support.ts";
import { some } from "../../support/thorough.ts";

const channels = ["logp", "entropy", "logsumexp"] as const;

function expected(
  policy: LanguageModel,
  weights: Public,
  of: readonly RowSpec[] = rows,
): Record<(typeof channels)[number], number[]> {
  const all = of.map((row) => channelsOf(policy.shape, weights, row.context, row.tokens));
  return {
    logp: all.flatMap((row) => row.logp),
    entropy: all.flatMap((row) => row.entropy),
    logsumexp: all.flatMap((row) => row.logsumexp),
  };
}

for (const size of [{}, { kv_heads: 4, tied: false }, { kv_heads: 1, heads: 2, layers: 1 }]) {
  test(`channels equal an independent 64-bit decoder, ${JSON.stringify(size)}`, async () => {
    const policy = await open({ model: tinyModel(size) });
    stir(policy);
    const wanted = expected(policy, widen(toPublic(policy.shape, policy.readWeights())));
    const stats = await policy.score(batch, { model: "policy", channels });
    for (const channel of channels)
      assert.ok(largestDifference(stats[channel]!, wanted[channel]) < 2e-4, channel);
    const alone = await policy.score(batch, { model: "policy", channels: ["logp"] });
    assert.ok(largestDifference(alone.logp!, wanted.logp) < 2e-4);
    policy.close();
  });
}

/** Central differences of Σ c·channel in 64 bits, for a few entries of every weight. */
for (const size of some([{ kv_heads: 4, tied: false }, {}], 1)) {
  for (const channel of channels) {
    test(`gradient of ${channel} by every kind of weight equals finite differences, ${JSON.stringify(size)}`, async () => {
      const policy = await open({ model: tinyModel(size) });
      stir(policy);
      const coefficients = coefficientsOf(batch.tokens.length, channel);
      const ours = toPublicNumbers(
        policy,
        policy.gradients(batch, plan([channel]), weighBy({ [channel]: coefficients })),
      );
      const weights = widen(toPublic(policy.shape, policy.readWeights()));
      const loss = (): number =>
        expected(policy, weights)[channel].reduce((sum, value, i) => sum + value * coefficients[i]!, 0);
      for (const [name, gradient] of Object.entries(ours)) {
        const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        assert.ok(largest > 0, `${name} has no gradient`);
        const at = gradient.findIndex((value) => Math.abs(value) === largest);
        for (const index of [at, Math.floor(gradient.length / 3)]) {
          const values = weights[name]!;
          const before = values[index]!;
          values[index] = before + 1e-5;
          const above = loss();
          values[index] = before - 1e-5;
          const below = loss();
          values[index] = before;
          assert.ok(
            Math.abs((above - below) / 2e-5 - gradient[index]!) < 1e-5 + 1e-3 * largest,
            `${name}[${index}]: ${gradient[index]} instead of ${(above - below) / 2e-5}`,
          );
        }
      }
      policy.close();
    });
  }
}
/** Gradients share the weights' layout, so the same change of names serves them. */
const toPublicNumbers = (policy: LanguageModel, gradients: Record<string, Float32Array>): Public =>
  widen(toPublic(policy.shape, gradients));

test("a channel that does not exist, or of a model or head that does not, is refused by name", async () => {
  const policy = await open();
  const ask = (channel: string): Promise<unknown> =>
    policy.score(batch, { model: "policy", channels: [channel as Channel] });
  await assert.rejects(ask("kl:reference:reverse"), /no model reference/);
  await assert.rejects(ask("logp:teacher"), /no model teacher/);
  await assert.rejects(ask("head:value"), /no head value/);
  await assert.rejects(ask("kl:reference:sideways"), /not a channel/);
  await assert.rejects(policy.score(batch, { model: "reference", channels: ["logp"] }), /no model reference/);
  policy.close();
});
