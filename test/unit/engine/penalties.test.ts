/** Penalties on repeated tokens: transformers' numbers, and responses drawn from exactly what the definition says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { openBackend } from "../../../server/engine/devices/backend.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import { filtersOf, penaltiesOf } from "../../../server/engine/generation/sampling.ts";
import { chooseFiltered } from "./chooseFiltered.ts";
import { take, type Named } from "../../../server/core/ops.ts";
import { floats, freeAll, type ProgramSpec } from "../../../server/engine/devices/runtime.ts";
import { penalise } from "../../../server/engine/transformer/penalties.ts";
import type { DecodeOptions, PartialSample, Prompt, Sample } from "../../../server/core/policy.ts";
import { batchOf, collect, largestDifference, open, stir } from "./support.ts";

const fixture = z
  .object({
    vocabulary: z.number(),
    logits: z.array(z.number()),
    ids: z.array(z.array(z.number())),
    cases: z.array(z.object({ penalty: z.number(), logits: z.array(z.number()) })),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/penalties/penalties.json", "utf8")));

const spec = (vocabulary: number): ProgramSpec => ({
  name: "penalise",
  feeds: {
    logits: { dtype: "float", rank: 2 },
    seen: { dtype: "float", rank: 2 },
    repetition: { dtype: "float", rank: 0 },
  },
  build: <T>(ops: Parameters<typeof penalise<T>>[0], feeds: Named<T>) => ({
    shown: penalise(ops, vocabulary, { seen: true, counts: false }, take(feeds, "logits"), feeds),
  }),
});

for (const backend of ["native", "wasm"] as const)
  test(`the repetition penalty is transformers', ${backend}`, async () => {
    const { runtime } = await openBackend(backend, 2, 0);
    const { vocabulary, logits, ids, cases } = fixture;
    const program = runtime.compile(spec(vocabulary));
    const seen = new Float32Array(logits.length);
    ids.forEach((row, index) => row.forEach((token) => (seen[index * vocabulary + token] = 1)));
    for (const { penalty, logits: wanted } of cases) {
      const feeds = {
        logits: runtime.upload(Float32Array.from(logits), [ids.length, vocabulary]),
        seen: runtime.upload(seen.slice(), [seen.length, 1]),
        repetition: runtime.upload(Float32Array.of(penalty), []),
      };
      const { shown } = program.run(feeds);
      assert.ok(largestDifference(floats(shown!), wanted) < 1e-5, `${penalty}`);
      freeAll({ ...feeds, shown: shown! });
    }
    runtime.close();
  });

const penalties = { repetition_penalty: 1.6, presence_penalty: 0.4, frequency_penalty: 0.7 };

/** Of lengths that differ, some alike. */
function promptsOf({ tokenizer }: LanguageModel): Prompt[] {
  return Array.from({ length: 14 }, (_, index) => ({
    tokens: tokenizer.encode("abcab cab".slice(index % 5)),
    ...(index % 4 === 0 ? { prefix: tokenizer.encode("xyx") } : {}),
    key: ["penalties", index],
  }));
}

/** The model's own logits after a context, token by token: from a log-prob and the normaliser. */
async function logitsBehind(policy: LanguageModel, context: readonly number[]): Promise<Float32Array> {
  const rows = Array.from({ length: policy.vocabulary }, (_, token) => ({ context, tokens: [token] }));
  const stats = await policy.score(batchOf(rows), { model: "policy", channels: ["logp", "logsumexp"] });
  return Float32Array.from(stats.logp!, (logp, token) => logp + stats.logsumexp![token]!);
}

/** Each token of a response is what the definition draws with the response's own random number. */
async function checkDrawn(
  policy: LanguageModel,
  prompt: Prompt,
  sample: Sample,
  decode: DecodeOptions,
): Promise<void> {
  const random = new Stream(decode.seed, "token", ...prompt.key);
  const given = [...prompt.tokens, ...(prompt.prefix ?? [])];
  const counts = new Map<number, number>();
  for (const [at, token] of sample.tokens.entries()) {
    const written = [...sample.tokens.subarray(0, at)];
    const logits = await logitsBehind(policy, [...given, ...written]);
    const tally = { seen: new Set([...given, ...written]), counts };
    const by = { by: penaltiesOf(decode), tally };
    const wanted = chooseFiltered(logits, filtersOf(decode), random.at(at), undefined, by);
    assert.equal(token, wanted.token, `token ${at} of response ${sample.index}`);
    assert.ok(Math.abs(sample.logp_old[at]! - wanted.logp) < 1e-4);
    assert.ok(Math.abs(sample.logp_sampled[at]! - wanted.logpSampled) < 1e-4);
    assert.ok(Math.abs(sample.entropy[at]! - wanted.entropy) < 1e-4);
    counts.set(token, (counts.get(token) ?? 0) + 1);
  }
}

test("every token is drawn from logits less the penalties of prompt and response; logp stays the model's", async () => {
  const policy = await open();
  stir(policy, 0.25);
  const prompts = promptsOf(policy);
  const { tensors } = policy.counters();
  for (const options of [{ ...penalties }, { ...penalties, top_p: 0.8, temperature: 1.2 }]) {
    const decode = { max_tokens: 9, temperature: 1, seed: 3, ...options };
    // Few lanes: they are taken again by others, and moved when few are left.
    const samples = await collect(policy, prompts, { ...decode, lanes: 5 });
    for (const index of [0, 6, 13]) await checkDrawn(policy, prompts[index]!, samples[index]!, decode);
    const many = await collect(policy, prompts, decode);
    samples.forEach(({ tokens }, index) => assert.deepEqual(tokens, many[index]!.tokens));
  }
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
});

test("a strong penalty lets no token come twice, in greedy decoding too", async () => {
  const policy = await open();
  stir(policy, 0.25);
  const prompts = promptsOf(policy);
  const free = await collect(policy, prompts, { temperature: 0, max_tokens: 20 });
  assert.ok(free.some(({ tokens }) => new Set(tokens).size < tokens.length));
  for (const temperature of [0, 1]) {
    const samples = await collect(policy, prompts, { temperature, max_tokens: 20, presence_penalty: 1e4 });
    for (const { tokens } of samples) assert.equal(new Set(tokens).size, tokens.length);
  }
  policy.close();
});

test("a paused response keeps what it is penalised for; WebAssembly and values kept in the session draw the same", async () => {
  const policy = await open();
  stir(policy, 0.25);
  const prompts = promptsOf(policy);
  const decode = { max_tokens: 16, temperature: 1, seed: 3, ...penalties };
  const whole = await collect(policy, prompts, decode);
  const controller = new AbortController();
  const kept: PartialSample[] = [];
  const pause = {
    signal: controller.signal,
    keep: (rest: readonly PartialSample[]) => void kept.push(...rest),
  };
  let tokens = 0;
  const on_token = (): void => {
    if (++tokens === 6 * prompts.length) controller.abort();
  };
  const first = await collect(policy, prompts, { ...decode, pause, on_token });
  assert.ok(kept.some(({ tokens }) => tokens.length > 3));
  const rest = kept.map(({ index }) => prompts[index]!);
  const resume = kept.map((partial, index) => ({ ...partial, index }));
  const later = await collect(policy, rest, { ...decode, resume });
  const all = [...first, ...later.map((sample) => ({ ...sample, index: kept[sample.index]!.index }))];
  assert.equal(all.length, prompts.length);
  for (const sample of all) assert.deepEqual(sample.tokens, whole[sample.index]!.tokens);
  for (const elsewhere of [{ backend: "wasm" }, { native: { resident: true } }] as const) {
    const other = await open(elsewhere);
    other.writeWeights(policy.readWeights());
    const some = prompts.slice(0, 8);
    const { tensors } = other.counters();
    (await collect(other, some, { ...decode, lanes: 5 })).forEach((sample, index) => {
      assert.deepEqual(sample.tokens, whole[index]!.tokens);
      assert.ok(largestDifference(sample.logp_sampled, whole[index]!.logp_sampled) < 1e-3);
    });
    assert.equal(other.counters().tensors, tensors);
    other.close();
  }
  policy.close();
});

test("penalties that make no sense are named", async () => {
  const policy = await open();
  const prompts = promptsOf(policy);
  await assert.rejects(collect(policy, prompts, { repetition_penalty: 0 }), /repetition_penalty is 0/);
  await assert.rejects(collect(policy, prompts, { presence_penalty: NaN }), /presence_penalty is NaN/);
  policy.close();
});
