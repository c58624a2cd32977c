import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiltered } from "./chooseFiltered.ts";
import type { Prompt, Sample } from "../../../server/core/policy.ts";
import { batchOf, collect, largestDifference, open, randomRows, stir } from "./support.ts";

const lengths = [
  [3, 0],
  [9, 0],
  [1, 0],
  [9, 0],
  [14, 0],
  [2, 0],
  [5, 0],
] as const;
const prompts: Prompt[] = randomRows(lengths).flatMap(({ context }, index) =>
  Array.from({ length: 4 }, (_, member) => ({
    tokens: Int32Array.from(context),
    key: ["test", index, member],
  })),
);
const rowsOf = (samples: readonly Sample[], of: readonly Prompt[]) =>
  batchOf(
    samples.map((sample) => ({
      context: [...of[sample.index]!.tokens, ...(of[sample.index]!.prefix ?? [])],
      tokens: [...sample.tokens],
    })),
  );

for (const temperature of [1, 0.7, 0]) {
  test(`what decoding recorded is what scoring the whole row gives, T = ${temperature}`, async () => {
    const policy = await open();
    stir(policy, 0.2);
    const samples = await collect(policy, prompts, { temperature, max_tokens: 30 });
    assert.equal(samples.length, prompts.length);
    const stats = await policy.score(rowsOf(samples, prompts), {
      model: "policy",
      channels: ["logp", "entropy"],
    });
    assert.ok(
      largestDifference(
        stats.logp!,
        samples.flatMap((sample) => [...sample.logp_old]),
      ) < 1e-4,
    );
    assert.ok(
      largestDifference(
        stats.entropy!,
        samples.flatMap((sample) => [...sample.entropy]),
      ) < 1e-4,
    );
    if (temperature === 1)
      for (const sample of samples) assert.deepEqual(sample.logp_sampled, sample.logp_old);
    for (const { tokens, finish } of samples) {
      const ended = tokens.indexOf(policy.tokenizer.eos);
      assert.equal(finish, ended >= 0 ? "stop" : "length");
      assert.equal(tokens.length, ended >= 0 ? ended + 1 : 30);
    }
    if (temperature === 0) assert.deepEqual(samples[0]!.tokens, samples[1]!.tokens);
    policy.close();
  });
}

test("samples depend neither on the order of lanes nor on what else is in the batch", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const together = await collect(policy, prompts);
  const reversed = await collect(policy, [...prompts].reverse());
  const alone = await collect(policy, prompts.slice(5, 6));
  together.forEach((sample, index) =>
    assert.deepEqual(sample.tokens, reversed[prompts.length - 1 - index]!.tokens),
  );
  assert.deepEqual(alone[0]!.tokens, together[5]!.tokens);
  const otherSeed = await collect(policy, prompts, { seed: 4 });
  assert.notDeepEqual(
    otherSeed.map(({ tokens }) => [...tokens]),
    together.map(({ tokens }) => [...tokens]),
  );
  policy.close();
});

test("drawing follows the distribution", async () => {
  const policy = await open();
  stir(policy, 0.1);
  const prompt = prompts[0]!.tokens;
  const many = Array.from({ length: 3000 }, (_, index) => ({ tokens: prompt, key: [index] }));
  const samples = await collect(policy, many, { max_tokens: 1 });
  const counts = new Map<number, { count: number; p: number }>();
  for (const { tokens, logp_old } of samples) {
    const entry = counts.get(tokens[0]!) ?? { count: 0, p: Math.exp(logp_old[0]!) };
    entry.count += 1;
    counts.set(tokens[0]!, entry);
  }
  for (const { count, p } of counts.values())
    assert.ok(
      Math.abs(count - 3000 * p) < 5 * Math.sqrt(3000 * p) + 1,
      `${count} of an expected ${3000 * p}`,
    );
  policy.close();
});

test("a prefix is continued and only what follows is returned", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const whole = [...prompts[4]!.tokens];
  const samples = await collect(policy, [
    { tokens: Int32Array.from(whole), key: ["same"] },
    { tokens: Int32Array.from(whole.slice(0, 4)), prefix: Int32Array.from(whole.slice(4)), key: ["same"] },
  ]);
  assert.deepEqual(samples[0]!.tokens, samples[1]!.tokens);
  policy.close();
});

test("stop texts end a sample, the context bounds it, an abort ends all, and no tensor is left", async () => {
  const policy = await open();
  stir(policy, 0.2);
  await collect(policy, prompts);
  const { tensors } = policy.counters();
  const plain = await collect(policy, prompts.slice(0, 1), { max_tokens: 20 });
  const text = policy.tokenizer.decode(plain[0]!.tokens);
  const stop = text.slice(3, 5);
  const stopped = await collect(policy, prompts.slice(0, 1), { max_tokens: 20, stop: [stop] });
  assert.equal(policy.tokenizer.decode(stopped[0]!.tokens), text.slice(0, text.indexOf(stop) + stop.length));
  assert.equal(stopped[0]!.finish, "stop");
  const bounded = await collect(policy, [{ tokens: new Int32Array(46).fill(20), key: [1] }], {
    max_tokens: 20,
  });
  assert.ok(bounded[0]!.tokens.length <= 2);
  await assert.rejects(collect(policy, [{ tokens: new Int32Array(48).fill(20), key: [1] }]), /context is 48/);
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  await assert.rejects(collect(policy, prompts, { signal: controller.signal }), /enough/);
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
});

test("filters keep the likeliest tokens, and say what they drew from", async () => {
  const logits = Float32Array.from([0, 1, 2, 3], (index) => Math.log([0.1, 0.2, 0.3, 0.4][index]!));
  const off = { temperature: 1, top_k: 0, top_p: 1, min_p: 0 };
  const near = (value: number, wanted: number): void =>
    assert.ok(Math.abs(value - wanted) < 1e-6, `${value} instead of ${wanted}`);
  const top2 = chooseFiltered(logits, { ...off, top_k: 2 }, 0.1);
  assert.equal(top2.token, 2);
  near(top2.logpSampled, Math.log(0.3 / 0.7));
  near(top2.logp, Math.log(0.3));
  assert.equal(chooseFiltered(logits, { ...off, top_p: 0.39 }, 0).token, 3);
  assert.equal(chooseFiltered(logits, { ...off, top_p: 0.41 }, 0).token, 2);
  assert.equal(chooseFiltered(logits, { ...off, min_p: 0.6 }, 0).token, 2);
  near(chooseFiltered(logits, { ...off, temperature: 0.5 }, 0.999).logpSampled, Math.log(0.16 / 0.3));
  const policy = await open();
  stir(policy, 0.2);
  const [greedy] = await collect(policy, prompts.slice(0, 1), { temperature: 0 });
  const [narrow] = await collect(policy, prompts.slice(0, 1), { top_k: 1 });
  assert.deepEqual(narrow!.tokens, greedy!.tokens);
  assert.deepEqual(narrow!.logp_sampled, new Float64Array(narrow!.tokens.length));
  const wide = await collect(policy, prompts.slice(0, 4), { top_k: 99 });
  const free = await collect(policy, prompts.slice(0, 4));
  wide.forEach((sample, index) => assert.deepEqual(sample.tokens, free[index]!.tokens));
  policy.close();
});

test("a temperature draws in the graph what it draws on this side, and says from which distribution", async () => {
  const policy = await open();
  stir(policy, 0.2);
  const graph = await collect(policy, prompts, { temperature: 0.7 });
  const here = await collect(policy, prompts, { temperature: 0.7, top_k: policy.tokenizer.size });
  graph.forEach((sample, index) => {
    const other = here[index]!;
    assert.deepEqual(sample.tokens, other.tokens);
    assert.ok(largestDifference(sample.logp_sampled, other.logp_sampled) < 1e-4);
    assert.ok(largestDifference(sample.logp_sampled, sample.logp_old) > 1e-3);
    assert.deepEqual(sample.versions, new Int32Array(sample.tokens.length).fill(policy.version));
  });
  policy.close();
});
