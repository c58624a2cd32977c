import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { PolicyOptions } from "../../../server/engine/index.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import { targets, type ModelConfig } from "../../../server/core/blocks/models.ts";
import { mergedWeight } from "../../../server/engine/transformer/lowRank.ts";
import { type Shape } from "../../../server/engine/transformer/weights.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import type { Channel } from "../../../server/core/policy.ts";
import { channelsOf, widen } from "./reference.ts";
import {
  batchOf,
  coefficientsOf,
  collect,
  largestDifference,
  open,
  optimizer,
  plan,
  randomRows,
  supervised,
  tinyModel,
  weighBy,
} from "./support.ts";
import { inLong, some } from "../../support/thorough.ts";

const mergedWeights = (
  shape: Shape,
  adapter: Adapter,
  base: Readonly<Record<string, Float32Array>>,
  trained: Readonly<Record<string, Float32Array>>,
): Record<string, Float32Array> =>
  Object.fromEntries(
    Object.entries(base).map(([name, values]) => [
      name,
      mergedWeight(shape, adapter, name, Float32Array.from(values), trained),
    ]),
  );

const rows = randomRows([
  [5, 6],
  [1, 3],
  [9, 12],
  [2, 1],
  [3, 20],
]);
const batch = batchOf(rows);
const n = batch.tokens.length;

type Adapter = NonNullable<ModelConfig["adapter"]>;
const all: Adapter = { rank: 3, alpha: 6, targets, dropout: 0 };
const model = (adapter: Adapter, size: Partial<ModelConfig["size"]> = {}): ModelConfig => ({
  ...tinyModel(size),
  adapter,
});
const openAdapted = (adapter: Adapter = all, options: Partial<PolicyOptions> = {}): Promise<LanguageModel> =>
  open({ model: model(adapter), ...options });

/** Moves A and B away from where they begin. */
function stirAdapter(policy: LanguageModel, size = 0.1): void {
  const random = new Stream("adapter");
  policy.writeWeights(
    Object.fromEntries(
      Object.entries(policy.readTrained()).map(([name, values]) => [
        name,
        values.map((value) => value + size * random.normal()),
      ]),
    ),
  );
}
const logpOf = async (policy: LanguageModel, of = "policy"): Promise<Float64Array> =>
  (await policy.score(batch, { model: of, channels: ["logp"] })).logp!;

test("an adapter begins as its base, has only its own weights, and shares the base with its reference", async () => {
  const base = await open();
  const policy = await openAdapted();
  assert.deepEqual(await logpOf(policy), await logpOf(base));
  const names = Object.keys(policy.readTrained());
  assert.equal(names.length, 2 * 2 * targets.length);
  assert.ok(policy.readTrained()["0.q.B"]!.every((value) => value === 0));
  assert.ok(policy.readTrained()["0.q.A"]!.some((value) => value !== 0));
  const before = policy.counters().tensors;
  await policy.snapshot("reference");
  assert.equal(policy.counters().tensors, before);
  const start = await logpOf(policy);
  await policy.update(batch, plan(["logp", "logp:reference"]), supervised);
  assert.ok(largestDifference(await logpOf(policy, "reference"), start) === 0);
  assert.ok(largestDifference(await logpOf(policy), start) > 1e-3);
  base.close();
  policy.close();
});

test("merged equals unmerged: in scores, in generation, and saved as plain weights", async () => {
  for (const adapter of [
    all,
    { ...all, targets: ["q", "v"] as const },
    { ...all, targets: ["down"] as const },
  ]) {
    const policy = await openAdapted(adapter);
    stirAdapter(policy);
    const base = initialWeights(policy.shape, 7);
    const merged = mergedWeights(policy.shape, adapter, base, policy.readTrained());
    assert.deepEqual(policy.readWeights(), merged);
    const plain = await open();
    plain.writeWeights(merged);
    assert.ok(largestDifference(await logpOf(policy), await logpOf(plain)) < 1e-4);
    const prompts = rows.map((row, index) => ({ tokens: Int32Array.from(row.context), key: [index] }));
    const [ours, theirs] = [await collect(policy, prompts), await collect(plain, prompts)];
    ours.forEach((sample, index) => assert.deepEqual(sample.tokens, theirs[index]!.tokens));
    policy.close();
    plain.close();
  }
});

for (const size of some([{ kv_heads: 4, tied: false }, {}], 1)) {
  test(`gradients by A and B equal finite differences of the merged model, ${JSON.stringify(size)}`, async () => {
    const policy = await open({ model: model(all, size) });
    stirAdapter(policy);
    const c = coefficientsOf(n, "adapter");
    const gradients = policy.gradients(batch, plan(["logp"]), weighBy({ logp: c }));
    const trained = policy.readTrained();
    assert.deepEqual(Object.keys(gradients), Object.keys(trained));
    const base = initialWeights(policy.shape, 7);
    const loss = (): number => {
      const weights = widen(toPublic(policy.shape, mergedWeights(policy.shape, all, base, trained)));
      return rows
        .flatMap((row) => channelsOf(policy.shape, weights, row.context, row.tokens).logp)
        .reduce((sum, value, i) => sum + value * c[i]!, 0);
    };
    for (const [name, gradient] of Object.entries(gradients)) {
      const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const at = gradient.findIndex((value) => Math.abs(value) === largest);
      assert.ok(largest > 0, name);
      const values = trained[name]!;
      const before = values[at]!;
      // Merging rounds to 32 bits: the step is large enough for that.
      values[at] = before + 3e-3;
      const above = loss();
      values[at] = before - 3e-3;
      const below = loss();
      values[at] = before;
      const wanted = (above - below) / 6e-3;
      assert.ok(
        Math.abs(wanted - gradient[at]!) < 1e-2 * largest + 1e-5,
        `${name}: ${gradient[at]}, ${wanted}`,
      );
    }
    policy.close();
  });
}

inLong("layer by layer and whole, staged and recomputed, an adapter's gradients are the same", async () => {
  const heads = [{ name: "value", detach: false }];
  const channels: Channel[] = ["logp", "entropy", "head:value"];
  const coefficients = Object.fromEntries(channels.map((channel) => [channel, coefficientsOf(n, channel)]));
  const whole = await open({ model: { ...model(all), heads } });
  stirAdapter(whole);
  const wanted = whole.gradients(batch, plan(channels), weighBy(coefficients));
  for (const options of [
    { run_bytes: 1 },
    { run_bytes: 1, kept_bytes: 0, logits: 700 },
    { kept_bytes: 0, micro_tokens: 24 },
    { backend: "wasm" as const },
    { backend: "wasm" as const, run_bytes: 1, kept_bytes: 0 },
  ]) {
    const other = await open({ model: { ...model(all), heads }, ...options });
    other.writeWeights(whole.readTrained());
    const found = other.gradients(batch, plan(channels), weighBy(coefficients));
    assert.deepEqual(Object.keys(found), Object.keys(wanted));
    for (const [name, values] of Object.entries(wanted)) {
      const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
      assert.ok(largestDifference(values, found[name]!) < 1e-3 * size, `${name} ${JSON.stringify(options)}`);
    }
    other.close();
  }
  whole.close();
});

test("an adapter learns, leaves no tensor behind, and its snapshots stay", async () => {
  const policy = await openAdapted(all, { micro_tokens: 64, optimizer: optimizer({ lr: 0.03 }) });
  const { loss: first } = await policy.update(batch, plan(["logp"]), supervised);
  await policy.snapshot("previous");
  const kept = await logpOf(policy, "previous");
  await policy.update(batch, plan(["logp", "kl:previous:reverse"]), supervised);
  const { tensors } = policy.counters();
  let last = first;
  for (let step = 0; step < 30; step++)
    last = (await policy.update(batch, plan(["logp", "kl:previous:reverse"]), supervised)).loss;
  assert.ok(last < first - 0.1, `${first} to ${last}`);
  assert.equal(policy.counters().tensors, tensors);
  assert.ok(largestDifference(await logpOf(policy, "previous"), kept) < 1e-5);
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
});

test("a run with an adapter and heads resumes bit for bit, and its checkpoint is a base with the adapter merged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-adapter-"));
  try {
    const heads = [{ name: "value", detach: false }];
    const described = { ...model({ ...all, targets: ["q", "v", "down"] }), heads };
    const policy = await open({ model: described });
    const channels: Channel[] = ["logp", "head:value"];
    const weighed = weighBy({ logp: coefficientsOf(n, "a"), "head:value": coefficientsOf(n, "b") });
    for (let step = 0; step < 2; step++) await policy.update(batch, plan(channels), weighed);
    const target = join(folder, "step-2");
    await policy.save(target);
    assert.ok(existsSync(join(target, "adapter_model.safetensors")));
    const resumed = await open({ model: described, from: target, seed: 1234 });
    assert.equal(resumed.version, 2);
    for (let step = 0; step < 2; step++) {
      const [a, b] = [
        await policy.update(batch, plan(channels), weighed),
        await resumed.update(batch, plan(channels), weighed),
      ];
      assert.equal(a.loss, b.loss);
    }
    assert.deepEqual(resumed.readTrained(), policy.readTrained());
    assert.deepEqual(resumed.readWeights(), policy.readWeights());
    // A checkpoint of the resumed run does not lean on the folder it came from.
    await resumed.save(join(folder, "step-4"));
    rmSync(target, { recursive: true });
    const merged = await open({ model: { ...tinyModel(), base: join(folder, "step-4") } });
    assert.ok(largestDifference(await logpOf(merged), await logpOf(policy)) < 1e-4);
    await assert.rejects(
      open({ model: { ...described, adapter: all }, from: join(folder, "step-4") }),
      /on down, q, v where this run has/,
    );
    await assert.rejects(open({ from: join(folder, "step-4") }), /has heads.value, heads.value_bias where/);
    // An adapter on a saved model names it, and notices when it changes.
    const plain = join(folder, "plain");
    await merged.save(plain);
    const over = await open({ model: { ...model(all), base: plain } });
    stirAdapter(over);
    await over.save(join(folder, "over"));
    assert.equal(existsSync(join(folder, "over", "base")), false);
    const again = await open({ model: { ...model(all), base: plain }, from: join(folder, "over") });
    assert.deepEqual(await logpOf(again), await logpOf(over));
    await policy.snapshot("x");
    await open().then(async (other) => {
      await other.save(plain);
      other.close();
    });
    await assert.rejects(
      open({ model: model(all), from: join(folder, "over") }),
      /plain, which has changed since/,
    );
    for (const one of [policy, resumed, merged, over, again]) one.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("dropout is of training alone; every mode and both halves of a step see the same masks", async () => {
  const adapter = { ...all, dropout: 0.4 };
  const seen: Float64Array[] = [];
  const c = coefficientsOf(n, "dropout");
  const gradientOf = async (options: Partial<PolicyOptions>, size = 0.1) => {
    const policy = await openAdapted(adapter, options);
    stirAdapter(policy, size);
    const found = policy.gradients(batch, plan(["logp"]), (now) => {
      seen.push(now.logp!);
      return { loss: 0, gradients: { logp: c } };
    });
    return { policy, found };
  };
  const { policy, found } = await gradientOf({});
  const scored = await logpOf(policy);
  assert.ok(largestDifference(seen[0]!, scored) > 1e-3);
  for (const options of [{ kept_bytes: 0 }, { run_bytes: 1 }, { run_bytes: 1, kept_bytes: 0, logits: 700 }]) {
    const other = await gradientOf(options);
    assert.ok(largestDifference(seen.at(-1)!, seen[0]!) < 1e-4);
    assert.ok(largestDifference(await logpOf(other.policy), scored) < 1e-4);
    for (const [name, values] of Object.entries(found)) {
      const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
      assert.ok(
        largestDifference(values, other.found[name]!) < 1e-3 * size,
        `${name} ${JSON.stringify(options)}`,
      );
    }
    other.policy.close();
  }
  // Differences of what training itself computes: the masks depend on the step alone.
  const trained = policy.readTrained();
  const lossAt = (name: string, index: number, by: number): number => {
    const values = Float32Array.from(trained[name]!);
    values[index]! += by;
    policy.writeWeights({ ...trained, [name]: values });
    let loss = 0;
    policy.gradients(batch, plan(["logp"]), (now) => {
      loss = now.logp!.reduce((sum, value, i) => sum + value * c[i]!, 0);
      return { loss, gradients: {} };
    });
    return loss;
  };
  for (const name of ["0.q.A", "0.o.B", "1.gate.A", "1.down.B", "1.v.A"]) {
    const gradient = found[name]!;
    const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const at = gradient.findIndex((value) => Math.abs(value) === largest);
    const wanted = (lossAt(name, at, 1e-2) - lossAt(name, at, -1e-2)) / 2e-2;
    assert.ok(Math.abs(wanted - gradient[at]!) < 3e-2 * largest, `${name}: ${gradient[at]}, ${wanted}`);
  }
  const wasm = await gradientOf({ backend: "wasm" });
  assert.ok(Object.values(wasm.found).every((values) => values.every(Number.isFinite)));
  wasm.policy.close();
  policy.close();
});
