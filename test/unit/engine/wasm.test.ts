import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { missingKernels } from "../../../server/engine/devices/eagerRuntime.ts";
import { openWasm } from "../../../server/engine/devices/wasm.ts";
import { foldedNames } from "../../../server/engine/transformer/fold.ts";
import type { Weigh } from "../../../server/core/policy.ts";
import {
  batch,
  batchOf,
  collect,
  compared,
  largestDifference,
  open,
  plan,
  stir,
  supervised,
  tinyModel,
} from "./support.ts";

const channels = ["logp", "entropy", "logsumexp", "sum_pi_squared"] as const;

for (const size of [{}, { kv_heads: 4, tied: false }]) {
  test(`WebAssembly gives the native logits' channels and gradients, ${JSON.stringify(size)}`, async () => {
    const native = await open({ model: tinyModel(size) });
    const wasm = await open({ model: tinyModel(size), backend: "wasm" });
    assert.equal(wasm.backend.name, "wasm");
    stir(native);
    wasm.writeWeights(native.readWeights());
    const found = await compared(native, wasm, channels);
    for (const channel of channels) assert.ok(found.channels[channel]! < 1e-3, channel);
    for (const [name, difference] of Object.entries(found.gradients)) assert.ok(difference < 1e-3, name);
    const [drawn, again] = found.samples;
    drawn.forEach((sample, index) => {
      assert.deepEqual(sample.tokens, again[index]!.tokens);
      assert.ok(largestDifference(sample.logp_old, again[index]!.logp_old) < 1e-3);
    });
    native.close();
    wasm.close();
  });
}

/** REINFORCE with alternating advantages: the shape of a GRPO step. */
const grouped: Weigh = (now, of) => {
  const gradient = new Float64Array(of.tokens.length);
  for (let row = 0; row < of.rows; row++)
    gradient.fill((row % 2 === 0 ? -1 : 1) / of.tokens.length, of.offsets[row], of.offsets[row + 1]);
  return {
    loss: gradient.reduce((sum, value, i) => sum + value * (now.logp?.[i] ?? 0), 0),
    gradients: { logp: gradient },
  };
};

test("on WebAssembly: warm-up learns, a policy step, a checkpoint, and an exact resume", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-wasm-"));
  try {
    const policy = await open({ backend: "wasm" });
    const losses: number[] = [];
    for (let step = 0; step < 6; step++)
      losses.push((await policy.update(batch, plan(["logp"]), supervised)).loss);
    assert.ok(losses.at(-1)! < losses[0]! - 0.5, losses.join(" "));
    const prompts = Array.from({ length: 8 }, (_, index) => ({
      tokens: Int32Array.of(40, 41, 42),
      key: [index],
    }));
    await policy.snapshot("reference");
    const samples = await collect(policy, prompts, { max_tokens: 6 });
    const { tensors } = policy.counters();
    const written = batchOf(
      samples.map((sample) => ({ context: [40, 41, 42], tokens: [...sample.tokens] })),
      { logp_old: Float64Array.from(samples.flatMap((sample) => [...sample.logp_old])) },
    );
    const stats = await policy.update(written, plan(["logp"], { fresh: true }), grouped);
    assert.equal(stats.mode, "fused");
    assert.ok(stats.grad_norm > 0);
    await policy.save(join(folder, "checkpoint"));
    // The policy and its snapshot now hold different values, each with its folded matrices.
    const added = Object.keys(policy.readWeights()).length + foldedNames(policy.shape).length;
    assert.equal(policy.counters().tensors - tensors, added);
    const resumed = await open({ backend: "wasm", from: join(folder, "checkpoint"), seed: 99 });
    assert.equal(resumed.version, policy.version);
    for (let step = 0; step < 2; step++) {
      const [a, b] = [
        await policy.update(batch, plan(["logp"]), supervised),
        await resumed.update(batch, plan(["logp"]), supervised),
      ];
      assert.equal(a.loss, b.loss);
      assert.equal(a.grad_norm, b.grad_norm);
    }
    assert.deepEqual(resumed.readWeights(), policy.readWeights());
    policy.close();
    resumed.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a kernel that is missing is named, with what is used in its place or that there is nothing", async () => {
  const { tf } = await openWasm();
  const [known] = missingKernels(tf, "wasm");
  assert.equal(known?.kernel, "UnsortedSegmentSum");
  assert.match(known.substitute, /ScatterNd/);
  const policy = await open({ backend: "wasm" });
  const kernel = tf.getKernel("Softmax", "wasm");
  tf.unregisterKernel("Softmax", "wasm");
  try {
    await assert.rejects(policy.score(batch, { model: "policy", channels }), {
      message: /wasm backend has no kernel Softmax, which the score \(.*\) program needs/,
    });
  } finally {
    tf.registerKernel(kernel);
  }
  await policy.score(batch, { model: "policy", channels });
  policy.close();
});
