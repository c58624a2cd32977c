/** Decoding from the logits of a policy perturbed by heads with a value for every word, against 64-bit arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import type { DecodeOptions, Sample } from "../../../server/core/policy.ts";
import { logitsOf, statesOf, widen } from "./reference.ts";
import { collect, open, tinyModel } from "./support.ts";

const prompts = [[5, 9, 11], [7], [20, 21, 22, 23]].map((tokens, i) => ({
  tokens: Int32Array.from(tokens),
  key: ["prompt", i],
}));
const heads = ["q1", "q2"].map((name) => ({ name, words: true, detach: true }));
const beta = 2;

async function opened(size: Parameters<typeof tinyModel>[0]): Promise<LanguageModel> {
  const policy = await open({ model: { ...tinyModel(size), heads } });
  const random = new Stream("perturbed");
  const stirred = Object.entries(policy.readTrained()).map(
    ([name, values]) => [name, values.map((value) => value + 0.3 * random.normal())] as const,
  );
  policy.writeWeights(Object.fromEntries(stirred));
  return policy;
}

/** For every token of a sample, the logits that it was drawn from and the policy's own. */
function drawnFrom(
  policy: LanguageModel,
  { index, tokens }: Sample,
): { shown: Float64Array; own: Float64Array }[] {
  const trained = policy.readTrained();
  const weights = widen(toPublic(policy.shape, trained));
  const all = [...prompts[index]!.tokens, ...tokens];
  const [logits, states] = [logitsOf(policy.shape, weights, all), statesOf(policy.shape, weights, all)];
  const q = (head: string, at: number, word: number): number =>
    states[at]!.reduce(
      (sum, value, i) => sum + value * trained[`heads.${head}`]![i * policy.vocabulary + word]!,
      trained[`heads.${head}_bias`]![word]!,
    );
  return Array.from(tokens, (_, t) => {
    const at = all.length - tokens.length - 1 + t;
    const own = logits[at]!;
    return {
      own,
      shown: own.map((logit, word) => logit + beta * Math.min(q("q1", at, word), q("q2", at, word))),
    };
  });
}
const logSoftmax = (logits: Float64Array): Float64Array => {
  const most = Math.max(...logits);
  const lse = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0));
  return logits.map((value) => value - lse);
};
/** Log-probs at a temperature, of the fewest likeliest words whose mass reaches `top_p`; −∞ elsewhere. */
function nucleus(logits: Float64Array, temperature: number, top_p: number): Float64Array {
  const logp = logSoftmax(logits.map((value) => value / temperature));
  let before = 0;
  const kept = new Set<number>();
  for (const word of [...logp.keys()].sort((a, b) => logp[b]! - logp[a]!)) {
    if (kept.size > 0 && before >= top_p) break;
    kept.add(word);
    before += Math.exp(logp[word]!);
  }
  return logp.map((value, word) => (kept.has(word) ? value - Math.log(before) : -Infinity));
}

const perturb = { heads: ["q1", "q2"], beta };
const ways: readonly (readonly [string, Partial<DecodeOptions>])[] = [
  ["temperature 1", {}],
  ["another temperature", { temperature: 0.7 }],
  ["a nucleus", { temperature: 0.9, top_p: 0.6 }],
  ["greedy", { temperature: 0 }],
];
for (const size of [{}, { kv_heads: 4, tied: false }])
  for (const [name, decode] of ways)
    test(`words are drawn from logits + β · min Q, ${name}, ${JSON.stringify(size)}`, async () => {
      const policy = await opened(size);
      const baseline = policy.counters().tensors;
      const samples = await collect(policy, prompts, { ...decode, perturb });
      const plain = await collect(policy, prompts, decode);
      assert.notDeepEqual(
        samples.map(({ tokens }) => [...tokens]),
        plain.map(({ tokens }) => [...tokens]),
      );
      assert.equal(policy.counters().tensors, baseline);
      const { temperature = 1, top_p = 1 } = decode;
      for (const sample of samples)
        drawnFrom(policy, sample).forEach(({ shown, own }, t) => {
          const token = sample.tokens[t]!;
          assert.ok(Math.abs(sample.logp_old[t]! - logSoftmax(own)[token]!) < 1e-3);
          if (temperature === 0) assert.ok(shown[token]! > Math.max(...shown) - 1e-3);
          else
            assert.ok(Math.abs(sample.logp_sampled[t]! - nucleus(shown, temperature, top_p)[token]!) < 1e-3);
        });
      policy.close();
    });

test("heads that cannot perturb are named", async () => {
  const policy = await open({ model: { ...tinyModel(), heads: [{ name: "value", detach: false }] } });
  await assert.rejects(collect(policy, prompts, { perturb }), /no head q1/);
  await assert.rejects(collect(policy, prompts, { perturb: { heads: ["value"], beta } }), /has one value/);
  policy.close();
});
