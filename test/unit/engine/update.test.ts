import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openPolicy } from "../../../server/engine/index.ts";
import {
  batchOf,
  coefficientsOf,
  largestDifference,
  open,
  optimizer,
  plan,
  randomRows,
  stir,
  supervised,
  tinyModel,
  weighBy,
} from "./support.ts";

const rows = randomRows([
  [5, 6],
  [1, 3],
  [9, 12],
  [2, 1],
  [3, 20],
  [4, 0],
  [0, 5],
]);
const batch = batchOf(rows);
const n = batch.tokens.length;
const all = ["logp", "entropy", "logsumexp"] as const;
const coefficients = Object.fromEntries(all.map((channel) => [channel, coefficientsOf(n, channel)]));

const temporary = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-policy-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

function sameGradients(a: Record<string, Float32Array>, b: Record<string, Float32Array>): void {
  assert.deepEqual(Object.keys(a), Object.keys(b));
  for (const [name, values] of Object.entries(a)) {
    const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
    assert.ok(
      largestDifference(values, b[name]!) < 1e-4 * size,
      `${name}: ${largestDifference(values, b[name]!)} of ${size}`,
    );
  }
}

test("staged, recomputed and fused steps, and any cut into micro-batches, give one gradient", async () => {
  const staged = await open();
  stir(staged);
  const weights = staged.readWeights();
  const wanted = staged.gradients(batch, plan(all), weighBy(coefficients));
  for (const options of [
    { kept_bytes: 0 },
    { micro_tokens: 24 },
    { micro_tokens: 24, kept_bytes: 60_000 },
    { threads: 1, micro_tokens: 64 },
  ]) {
    const other = await open(options);
    other.writeWeights(weights);
    sameGradients(wanted, other.gradients(batch, plan(all), weighBy(coefficients)));
    other.close();
  }
  const now = await staged.score(batch, { model: "policy", channels: all });
  const stored = { ...batch, columns: { logp_old: now.logp!, entropy: now.entropy! } };
  const { logsumexp: _, ...two } = coefficients;
  const { mode, loss } = await staged.update(batch, plan(["logp", "entropy"]), weighBy(two));
  assert.equal(mode, "staged");
  staged.writeWeights(weights);
  const fused = await staged.update(stored, plan(["logp", "entropy"], { fresh: true }), weighBy(two));
  assert.equal(fused.mode, "fused");
  assert.ok(Math.abs(fused.loss - loss) < 1e-6);
  const small = await open({ kept_bytes: 0 });
  small.writeWeights(weights);
  const recomputed = await small.update(batch, plan(["logp", "entropy"]), weighBy(two));
  assert.equal(recomputed.mode, "recompute");
  sameGradients(staged.readWeights(), small.readWeights());
  staged.close();
  small.close();
});

test("weigh sees the whole mini-batch once, in every mode", async () => {
  for (const options of [{}, { kept_bytes: 0 }, { micro_tokens: 24 }]) {
    const policy = await open(options);
    let calls = 0;
    await policy.update(batch, plan(["logp"]), (now, of) => {
      calls += 1;
      assert.equal(of, batch);
      assert.equal(now.logp!.length, n);
      assert.ok(now.logp!.every((value) => value < 0));
      return supervised(now, of);
    });
    assert.equal(calls, 1);
    policy.close();
  }
});

/** AdamW as its paper writes it, in 64 bits, on the engine's own gradients. */
test("the step is AdamW's, with warm-up, clipping, decay of matrices only, and a scaled rate", async () => {
  const choice = optimizer({
    lr: 0.02,
    betas: [0.8, 0.9],
    epsilon: 1e-6,
    weight_decay: 0.1,
    warmup: 3,
    clip_norm: 0.5,
  });
  const policy = await open({ optimizer: choice });
  stir(policy);
  const first: Record<string, Float64Array> = {};
  const second: Record<string, Float64Array> = {};
  for (let t = 1; t <= 4; t++) {
    const before = policy.readWeights();
    const gradients = policy.gradients(batch, plan(["logp"]), supervised);
    const norm = Math.sqrt(
      Object.values(gradients).reduce(
        (sum, values) => values.reduce((s, value) => s + value * value, sum),
        0,
      ),
    );
    const lr = 0.02 * 0.5 * Math.min(1, t / 3);
    const stats = await policy.update(batch, plan(["logp"], { lr_scale: 0.5 }), supervised);
    assert.ok(Math.abs(stats.grad_norm - norm) < 1e-4 * norm);
    assert.ok(Math.abs(stats.lr - lr) < 1e-12);
    const after = policy.readWeights();
    for (const [name, gradient] of Object.entries(gradients)) {
      const m = (first[name] ??= new Float64Array(gradient.length));
      const v = (second[name] ??= new Float64Array(gradient.length));
      const wanted = gradient.map((raw, i) => {
        const g = raw * Math.min(1, 0.5 / norm);
        m[i] = 0.8 * m[i]! + 0.2 * g;
        v[i] = 0.9 * v[i]! + 0.1 * g * g;
        const decay = name.includes("norm") ? 0 : 0.1;
        const step = m[i]! / (1 - 0.8 ** t) / (Math.sqrt(v[i]! / (1 - 0.9 ** t)) + 1e-6);
        return before[name]![i]! - lr * (step + decay * before[name]![i]!);
      });
      assert.ok(largestDifference(after[name]!, wanted) < 2e-5, `${name} at ${t}`);
    }
  }
  policy.close();
});

test("a gradient that is not finite changes nothing and is reported", async () => {
  const policy = await open();
  const before = policy.readWeights();
  const stats = await policy.update(
    batch,
    plan(["logp"]),
    weighBy({ logp: coefficientsOf(n, "x").map((value, i) => (i === 3 ? Infinity : value)) }),
  );
  assert.equal(stats.metrics["update/skipped"], 1);
  assert.equal(policy.version, 0);
  assert.deepEqual(policy.readWeights(), before);
  const next = await policy.update(batch, plan(["logp"]), supervised);
  assert.equal(next.metrics["update/skipped"], 0);
  assert.equal(policy.version, 1);
  policy.close();
});

test("supervised steps learn, and no tensor is left behind by any step", async () => {
  const policy = await open({ micro_tokens: 64 });
  const { loss: first } = await policy.update(batch, plan(["logp"]), supervised);
  const { tensors } = policy.counters();
  let last = first;
  for (let step = 0; step < 30; step++) last = (await policy.update(batch, plan(["logp"]), supervised)).loss;
  assert.ok(last < first - 2, `${first} to ${last}`);
  assert.equal(policy.counters().tensors, tensors);
  await assert.rejects(
    policy.update(batch, plan(["logp"]), () => {
      throw new Error("broken objective");
    }),
    /broken objective/,
  );
  await assert.rejects(
    policy.update(batch, plan(["logp"]), weighBy({ "head:value": coefficientsOf(n, "x") })),
    /head:value/,
  );
  assert.equal(policy.counters().tensors, tensors);
  policy.close();
});

test("snapshots stay while the policy moves; averages move by their decay", async () => {
  const policy = await open();
  const score = async (model: string): Promise<Float64Array> =>
    (await policy.score(batch, { model, channels: ["logp"] })).logp!;
  await policy.snapshot("reference");
  await policy.snapshot("ema", 0.75);
  const start = policy.readWeights();
  const before = await score("policy");
  let seen: Float64Array | undefined;
  await policy.update(batch, plan(["logp", "logp:reference"]), (now, of) => {
    seen = now["logp:reference"];
    return supervised(now, of);
  });
  assert.ok(largestDifference(seen!, before) < 1e-5);
  assert.ok(largestDifference(await score("reference"), before) === 0);
  assert.ok(largestDifference(await score("policy"), before) > 1e-3);
  await policy.snapshot("ema", 0.75);
  const [moved, policyNow] = [await score("ema"), policy.readWeights()];
  policy.writeWeights(
    Object.fromEntries(
      Object.entries(start).map(([name, values]) => [
        name,
        values.map((value, i) => 0.75 * value + 0.25 * policyNow[name]![i]!),
      ]),
    ),
  );
  assert.ok(largestDifference(await score("policy"), moved) < 1e-4);
  policy.close();
});

test("training resumes bit for bit from a checkpoint", async () => {
  await temporary(async (folder) => {
    const policy = await open({ optimizer: optimizer({ warmup: 6, weight_decay: 0.01, clip_norm: 1 }) });
    for (let step = 0; step < 3; step++) await policy.update(batch, plan(["logp"]), supervised);
    const target = join(folder, "step-3");
    await policy.save(target);
    await policy.save(target);
    assert.deepEqual(readdirSync(folder), ["step-3"]);
    const losses: number[] = [];
    for (let step = 0; step < 4; step++)
      losses.push((await policy.update(batch, plan(["logp"]), supervised)).loss);
    const resumed = await open({
      from: target,
      seed: 1234,
      optimizer: optimizer({ warmup: 6, weight_decay: 0.01, clip_norm: 1 }),
    });
    assert.equal(resumed.version, 3);
    const again: number[] = [];
    for (let step = 0; step < 4; step++)
      again.push((await resumed.update(batch, plan(["logp"]), supervised)).loss);
    assert.deepEqual(again, losses);
    assert.deepEqual(resumed.readWeights(), policy.readWeights());
    // A checkpoint is also a base: the same weights, a fresh optimiser.
    const based = await open({ model: { ...tinyModel(), base: target } });
    assert.equal(based.version, 0);
    await resumed.load(target);
    assert.deepEqual(based.readWeights(), resumed.readWeights());
    for (const one of [policy, resumed, based]) one.close();
  });
});

test("a base or checkpoint that cannot be opened is named, with what to do", async () => {
  await temporary(async (folder) => {
    const base = (path: string) =>
      openPolicy({
        model: { ...tinyModel(), base: path },
        optimizer: optimizer(),
        backend: "native",
        seed: 1,
      });
    await assert.rejects(base(join(folder, "nowhere")), { message: /nowhere, which does not exist/ });
    writeFileSync(join(folder, "model.bin"), "?");
    await assert.rejects(base(join(folder, "model.bin")), { message: /its weights are pickled/ });
    writeFileSync(join(folder, "model.dat"), "?");
    await assert.rejects(base(join(folder, "model.dat")), { message: /a file that is not named .gguf/ });
    mkdirSync(join(folder, "hf"));
    await assert.rejects(base(join(folder, "hf")), { message: /a folder without a config.json/ });
    writeFileSync(join(folder, "hf", "config.json"), JSON.stringify({ model_type: "llama" }));
    await assert.rejects(base(join(folder, "hf")), {
      message: /config.json does not describe a model: vocab_size/,
    });
    const policy = await open();
    const target = join(folder, "saved");
    await policy.save(target);
    truncateSync(join(target, "model.safetensors"), 2000);
    await assert.rejects(open({ from: target }), { message: /model.safetensors cannot be read/ });
    const blocked = join(folder, "model.bin", "inside");
    await assert.rejects(policy.save(blocked), { message: /could not be written/ });
    assert.equal(existsSync(blocked), false);
    await assert.rejects(open({ model: tinyModel({ heads: 3, kv_heads: 3 }) }), {
      message: /not a multiple of heads/,
    });
    policy.close();
  });
});
