import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPartials, savePartials } from "../../../server/engine/weights/partial.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { DecodeOptions, PartialSample, Prompt, Sample } from "../../../server/core/policy.ts";
import { batchOf, collect, largestDifference, open, plan, randomRows, stir, supervised } from "./support.ts";

const lengths = [3, 9, 1, 9, 14, 2, 5, 30, 7, 11].map((length) => [length, 0] as const);
const prompts: Prompt[] = randomRows(lengths).flatMap(({ context }, index) =>
  Array.from({ length: 4 }, (_, member) => ({
    tokens: Int32Array.from(context),
    key: ["lanes", index, member],
  })),
);
const opened = async (options: Parameters<typeof open>[0] = {}): Promise<LanguageModel> => {
  const policy = await open(options);
  stir(policy, 0.2);
  return policy;
};
const tokensOf = (samples: readonly Sample[]): number[][] => samples.map(({ tokens }) => [...tokens]);
/** With a liking for the end, so that responses differ in length. */
const decode = { max_tokens: 17, logit_bias: new Map([[2, 2.5]]) };

test("few lanes, tiny caches and any order of prompts write the same tokens, and keep no tensor", async () => {
  const policy = await opened();
  const together = await collect(policy, prompts, decode);
  const { tensors } = policy.counters();
  assert.ok(
    new Set(together.map(({ tokens }) => tokens.length)).size > 2,
    "responses should differ in length",
  );
  for (const lanes of [1, 2, 3, 7, 25])
    assert.deepEqual(
      tokensOf(await collect(policy, prompts, { ...decode, lanes })),
      tokensOf(together),
      `${lanes} lanes`,
    );
  const shuffled = prompts.map((_, i) => (i * 7) % prompts.length);
  const other = await collect(
    policy,
    shuffled.map((i) => prompts[i]!),
    { ...decode, lanes: 6 },
  );
  shuffled.forEach((i, at) => assert.deepEqual(other[at]!.tokens, together[i]!.tokens));
  for (const i of [0, 17, 29])
    assert.deepEqual((await collect(policy, [prompts[i]!], decode))[0]!.tokens, together[i]!.tokens);
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
  const narrow = await opened({ cache_bytes: 30_000 });
  assert.deepEqual(tokensOf(await collect(narrow, prompts, decode)), tokensOf(together));
  narrow.close();
});

test("a lane that was taken over is scored as if it had been alone", async () => {
  const policy = await opened();
  const samples = await collect(policy, prompts, { ...decode, lanes: 4 });
  const rows = batchOf(
    samples.map(({ index, tokens }) => ({ context: [...prompts[index]!.tokens], tokens: [...tokens] })),
  );
  const { logp, entropy } = await policy.score(rows, { model: "policy", channels: ["logp", "entropy"] });
  assert.ok(
    largestDifference(
      logp!,
      samples.flatMap((sample) => [...sample.logp_old]),
    ) < 1e-4,
  );
  assert.ok(
    largestDifference(
      entropy!,
      samples.flatMap((sample) => [...sample.entropy]),
    ) < 1e-4,
  );
  policy.close();
});

test("the WebAssembly runtime seats, compacts and draws alike", async () => {
  const native = await opened();
  const wasm = await opened({ backend: "wasm" });
  const options = { ...decode, lanes: 5, top_p: 0.9, temperature: 0.9, min_tokens: 3 };
  assert.deepEqual(
    tokensOf(await collect(wasm, prompts.slice(0, 14), options)),
    tokensOf(await collect(native, prompts.slice(0, 14), options)),
  );
  native.close();
  wasm.close();
});

/** Generates until `after` samples are there, then pauses. */
async function paused(
  policy: LanguageModel,
  options: Partial<DecodeOptions>,
  after: number,
): Promise<{ samples: Sample[]; rest: readonly PartialSample[] }> {
  const controller = new AbortController();
  const kept: PartialSample[][] = [];
  const pause = {
    signal: controller.signal,
    keep: (rest: readonly PartialSample[]) => void kept.push([...rest]),
  };
  const samples: Sample[] = [];
  for await (const sample of policy.generate(prompts, {
    temperature: 1,
    seed: 3,
    ...decode,
    ...options,
    pause,
  })) {
    samples.push(sample);
    if (samples.length === after) controller.abort();
  }
  assert.equal(kept.length, 1);
  return { samples, rest: kept[0]! };
}
const inOrder = (samples: readonly Sample[]): Sample[] => [...samples].sort((a, b) => a.index - b.index);

test("a paused generation goes on where it was: the same tokens as without the pause", async () => {
  const policy = await opened();
  const whole = await collect(policy, prompts, decode);
  const { tensors } = policy.counters();
  const { samples, rest } = await paused(policy, { lanes: 9 }, 8);
  assert.equal(policy.counters().tensors, tensors);
  assert.equal(samples.length + rest.length, prompts.length);
  assert.ok(rest.some(({ tokens }) => tokens.length > 0) && rest.some(({ tokens }) => tokens.length === 0));
  const left = rest.map(({ index }) => prompts[index]!);
  const saved = savePartials(rest);
  assert.deepEqual(loadPartials(saved), rest);
  const resume = loadPartials(saved).map((partial, index) => ({ ...partial, index }));
  const continued = await collect(policy, left, { ...decode, resume });
  const all = [...samples, ...continued.map((sample) => ({ ...sample, index: rest[sample.index]!.index }))];
  inOrder(all).forEach((sample, index) => {
    assert.deepEqual(sample.tokens, whole[index]!.tokens);
    assert.equal(sample.finish, whole[index]!.finish);
    assert.ok(largestDifference(sample.logp_old, whole[index]!.logp_old) < 1e-4);
  });
  policy.close();
});

test("what is continued after an update says which weights wrote which token, and is theirs", async () => {
  const policy = await opened();
  const { rest } = await paused(policy, {}, 6);
  const before = policy.version;
  const rows = batchOf(randomRows([[4, 9]]));
  await policy.update(rows, plan(["logp"]), supervised);
  const resume = rest.map((partial, index) => ({ ...partial, index }));
  const left = rest.map(({ index }) => prompts[index]!);
  const samples = await collect(policy, left, { ...decode, resume });
  samples.forEach((sample, index) => {
    const begun = resume[index]!.tokens.length;
    assert.deepEqual(sample.tokens.slice(0, begun), resume[index]!.tokens);
    assert.deepEqual(sample.logp_old.slice(0, begun), resume[index]!.logp_old);
    assert.deepEqual(
      [...sample.versions],
      [...sample.tokens].map((_, at) => (at < begun ? before : before + 1)),
    );
  });
  const scored = await policy.score(
    batchOf(samples.map(({ tokens }, i) => ({ context: [...left[i]!.tokens], tokens: [...tokens] }))),
    { model: "policy", channels: ["logp"] },
  );
  let at = 0;
  samples.forEach((sample, index) => {
    sample.logp_old.forEach((logp, token) => {
      const now = scored.logp![at++]!;
      if (token >= resume[index]!.tokens.length) assert.ok(Math.abs(now - logp) < 1e-4);
    });
  });
  policy.close();
});

test("paused responses that were damaged say so", () => {
  const saved = savePartials([]);
  assert.deepEqual(loadPartials(saved), []);
  assert.throws(() => loadPartials({ json: null }), /their lengths are missing/);
  const cut = { ...saved, json: { index: [0], tokens: [3] } };
  assert.throws(() => loadPartials(cut), /the column tokens is missing or of another length/);
});

test("a response that is whole already is handed back", async () => {
  const policy = await opened();
  const [whole] = await collect(policy, prompts.slice(0, 1), { max_tokens: 6 });
  const { finish, ...partial } = whole!;
  assert.equal(finish, "length");
  assert.deepEqual(await collect(policy, prompts.slice(0, 1), { max_tokens: 6, resume: [partial] }), [whole]);
  policy.close();
});
