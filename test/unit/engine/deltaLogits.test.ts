/** Logits of the next token, and decoding from those of a policy moved by two other models, against 64-bit arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { DecodeOptions, Models, Policy } from "../../../server/core/policy.ts";
import { deltaLogits } from "../../../server/run/step/generate/deltaLogits.ts";
import { logitsOf, widen } from "./reference.ts";
import { collect, largestDifference, open, randomRows, stir, tinyModel } from "./support.ts";

const prompts = [[5, 9, 11], [7], [20, 21, 22, 23]].map((tokens, i) => ({
  tokens: Int32Array.from(tokens),
  key: ["prompt", i],
}));
const lastLogits = (policy: LanguageModel, tokens: ArrayLike<number>): Float64Array =>
  logitsOf(policy.shape, widen(toPublic(policy.shape, policy.readWeights())), Array.from(tokens)).at(-1)!;
const logSoftmax = (logits: Float64Array): Float64Array => {
  const most = Math.max(...logits);
  const lse = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0));
  return logits.map((value) => value - lse);
};

for (const [what, options] of [
  ["one matrix for words and head", {}],
  ["a head of its own", { model: tinyModel({ tied: false }) }],
  ["WebAssembly", { backend: "wasm" }],
] as const)
  test(`logits of the next token: ${what}`, async () => {
    const policy = await open({ ...options });
    try {
      stir(policy);
      const texts = [7, 1, 12, 3].map((length) => Int32Array.from(randomRows([[length, 0]])[0]!.context));
      const found = await policy.nextLogits(texts);
      texts.forEach((text, i) =>
        assert.ok(largestDifference(Float64Array.from(found[i]!), lastLogits(policy, text)) < 1e-4),
      );
    } finally {
      policy.close();
    }
  });

/** A large base, and a small model before and after training; names as a run's registry has them. */
async function family(): Promise<{ readonly all: LanguageModel[]; readonly models: Models }> {
  const policy = await open();
  stir(policy);
  const small = { model: tinyModel({ width: 8, heads: 2, kv_heads: 1 }), sharesWith: policy };
  const [trained, base] = [await open({ ...small, seed: 1 }), await open({ ...small, seed: 2 })];
  stir(trained, 0.8);
  stir(base, 0.5);
  const known = new Map<string, LanguageModel>(Object.entries({ policy, trained, base }));
  // An engine knows its own weights as `policy`.
  const view = (one: LanguageModel): Policy =>
    Object.assign(Object.create(one) as LanguageModel, {
      nextLogits: (texts: readonly Int32Array[]) => one.nextLogits(texts),
    });
  const models: Models = {
    names: [...known.keys()],
    get: (name) => view(known.get(name)!),
    perceptron: () => assert.fail("no perceptron is asked"),
  };
  return { all: [policy, trained, base], models };
}

const ways: readonly (readonly [string, Partial<DecodeOptions>])[] = [
  ["temperature 1", {}],
  ["another temperature, a token less", { temperature: 0.7, logit_bias: new Map([[4, -Infinity]]) }],
  ["greedy", { temperature: 0 }],
];
for (const [name, decode] of ways)
  test(`words are drawn from ℓ + λ (ℓ_trained − ℓ_base), ${name}`, async () => {
    const lambda = 0.8;
    const { all, models } = await family();
    const [policy, trained, base] = all as [LanguageModel, LanguageModel, LanguageModel];
    const logits_shift = deltaLogits({ model: "trained", base: "base", lambda }, models);
    const baseline = policy.counters().tensors;
    const samples = await collect(policy, prompts, { ...decode, logits_shift });
    const plain = await collect(policy, prompts, decode);
    assert.notDeepEqual(
      samples.map(({ tokens }) => [...tokens]),
      plain.map(({ tokens }) => [...tokens]),
    );
    assert.equal(policy.counters().tensors, baseline, "nothing is left on the device");
    const { temperature = 1, logit_bias } = decode;
    for (const { index, tokens, logp_old, logp_sampled } of samples)
      tokens.forEach((token, t) => {
        const before = [...prompts[index]!.tokens, ...tokens.subarray(0, t)];
        const own = lastLogits(policy, before);
        const [after, start] = [lastLogits(trained, before), lastLogits(base, before)];
        const drawn = own.map(
          (logit, word) => logit + lambda * (after[word]! - start[word]!) + (logit_bias?.get(word) ?? 0),
        );
        assert.ok(Math.abs(logp_old[t]! - logSoftmax(own)[token]!) < 1e-3);
        if (temperature === 0) assert.ok(drawn[token]! > Math.max(...drawn) - 1e-3);
        else {
          const shown = logSoftmax(drawn.map((value) => value / temperature))[token]!;
          assert.ok(Math.abs(logp_sampled[t]! - shown) < 1e-3, `${logp_sampled[t]} is not ${shown}`);
        }
      });
    for (const one of all.toReversed()) one.close();
  });

test("other weights than the policy's are not moved, and a text too long is said", async () => {
  const { all, models } = await family();
  const [policy] = all as [LanguageModel];
  await policy.snapshot("reference");
  const logits_shift = deltaLogits({ model: "trained", base: "base", lambda: 1 }, models);
  const written = async (more: Partial<DecodeOptions>): Promise<number[][]> =>
    (await collect(policy, prompts, { model: "reference", ...more })).map(({ tokens }) => [...tokens]);
  assert.deepEqual(await written({ logits_shift }), await written({}));
  await assert.rejects(logits_shift([new Int32Array(48)]), /A text has 48 tokens, .* can read 47/);
  for (const one of all.toReversed()) one.close();
});
