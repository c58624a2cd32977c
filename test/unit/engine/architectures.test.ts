import assert from "node:assert/strict";
import { test } from "node:test";
import { openBackend } from "../../../server/engine/devices/backend.ts";
import { openBase, readWeights } from "../../../server/engine/formats/index.ts";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { expectedOf, familyNames, folderOf, logitsOf, type FamilyName } from "./families.ts";
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
import { some } from "../../support/thorough.ts";

const openFamily = (name: FamilyName, options: Parameters<typeof open>[0] = {}): Promise<LanguageModel> =>
  open({ model: { ...tinyModel(), base: folderOf(name) }, ...options });

for (const name of some(familyNames, 3)) {
  test(`${name}: logits at every position are transformers', on both runtimes`, async () => {
    const head = openBase(folderOf(name));
    const weights = readWeights(head);
    const { rows, logits } = expectedOf(name);
    for (const backend of ["native", "wasm"] as const) {
      const { runtime } = await openBackend(backend, 2, 0);
      const before = runtime.tensors();
      const ours = logitsOf(runtime, head.shape, weights, rows);
      ours.forEach((values, row) => {
        const difference = largestDifference(values, logits[row]!);
        assert.ok(difference < 1e-4, `${backend}, row ${row}: ${difference}`);
      });
      assert.equal(runtime.tensors(), before);
      runtime.close();
    }
  });

  test(`${name}: log-probabilities and the gradient by every parameter are torch's`, async () => {
    const policy = await openFamily(name);
    const { rows, logp, gradients } = expectedOf(name);
    const batch = batchOf(rows);
    const stats = await policy.score(batch, { model: "policy", channels: ["logp"] });
    assert.ok(largestDifference(stats.logp!, logp.flat()) < 1e-4);
    const ours = toPublic(policy.shape, policy.gradients(batch, plan(["logp"]), supervised));
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(gradients).sort());
    const whole = Math.hypot(...Object.values(gradients).map(({ norm }) => norm));
    for (const [parameter, { norm, entries }] of Object.entries(gradients)) {
      const { data } = ours[parameter]!;
      const length = Math.sqrt(data.reduce((sum, value) => sum + value * value, 0));
      assert.ok(Math.abs(length - norm) < 1e-4 * norm + 1e-6 * whole, `${parameter}: ${length} for ${norm}`);
      for (const [index, value] of entries)
        assert.ok(
          Math.abs(data[index]! - value) < 2e-4 * Math.abs(value) + 2e-6 * whole,
          `${parameter}[${index}]: ${data[index]} for ${value}`,
        );
    }
    policy.close();
  });

  test(`${name}: twenty steps of AdamW lose what torch's lose`, async () => {
    const { rows, losses, adamw } = expectedOf(name);
    const { lr, betas, eps: epsilon, weight_decay } = adamw;
    const choice = optimizer({ lr, betas, epsilon, weight_decay });
    const policy = await openFamily(name, { optimizer: choice });
    const batch = batchOf(rows);
    for (const [step, wanted] of losses.entries()) {
      const { loss } = await policy.update(batch, plan(["logp"]), supervised);
      assert.ok(Math.abs(loss - wanted) < 5e-5, `step ${step}: ${loss} for ${wanted}`);
    }
    policy.close();
  });

  test(`${name}: decoding over a cache is scoring the whole row`, async () => {
    const policy = await openFamily(name);
    const prompts = randomRows(
      [
        [1, 0],
        [4, 0],
        [13, 0],
        [7, 0],
      ],
      96,
    ).flatMap(({ context }, index) =>
      [0, 1].map((member) => ({ tokens: Int32Array.from(context), key: [index, member] })),
    );
    const { tensors } = policy.counters();
    const samples = await collect(policy, prompts, { max_tokens: 24 });
    assert.equal(policy.counters().tensors, tensors);
    const rows = samples.map((sample) => ({
      context: [...prompts[sample.index]!.tokens],
      tokens: [...sample.tokens],
    }));
    assert.ok(rows.some(({ tokens }) => tokens.length > 20));
    const stats = await policy.score(batchOf(rows), { model: "policy", channels: ["logp", "entropy"] });
    const decoded = (column: "logp_old" | "entropy"): number[] =>
      samples.flatMap((sample) => [...sample[column]]);
    assert.ok(largestDifference(stats.logp!, decoded("logp_old")) < 2e-4);
    assert.ok(largestDifference(stats.entropy!, decoded("entropy")) < 2e-4);
    policy.close();
  });

  test(`${name}: the three ways to a gradient and WebAssembly's agree`, async () => {
    const channels = ["logp", "entropy", "logsumexp"] as const;
    const batch = batchOf(expectedOf(name).rows);
    const coefficients = Object.fromEntries(
      channels.map((channel) => [channel, coefficientsOf(batch.tokens.length, channel)]),
    );
    const gradientsOf = async (
      options: Parameters<typeof open>[0],
    ): Promise<Record<string, Float32Array>> => {
      const policy = await openFamily(name, options);
      const gradients = policy.gradients(batch, plan(channels), weighBy(coefficients));
      policy.close();
      return gradients;
    };
    const staged = await gradientsOf({});
    for (const options of [{ kept_bytes: 0, micro_tokens: 24 }, { backend: "wasm" as const }]) {
      const other = await gradientsOf(options);
      assert.deepEqual(Object.keys(other).sort(), Object.keys(staged).sort());
      for (const [weight, values] of Object.entries(staged)) {
        const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-2);
        const difference = largestDifference(values, other[weight]!);
        assert.ok(difference < 1e-3 * size, `${JSON.stringify(options)} ${weight}: ${difference} of ${size}`);
      }
    }
  });
}
