/** A text's states layer by layer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { take } from "../../../server/core/ops.ts";
import { largestDifference, open, randomRows, stir, tinyModel } from "./support.ts";

const texts = [7, 1, 12, 3, 20].map((length) => Int32Array.from(randomRows([[length, 0]])[0]!.context));

for (const [what, options] of [
  ["native", {}],
  ["native, in micro-batches", { micro_tokens: 16 }],
  ["WebAssembly", { backend: "wasm" }],
] as const)
  test(`first the mean of the embeddings, last what the final norm reads: ${what}`, async () => {
    const policy = await open({ model: tinyModel({ tied: false }), ...options });
    try {
      stir(policy);
      const { width, layers, epsilon } = policy.shape;
      const weights = policy.readWeights();
      const [embedding, gain] = [take(weights, "embedding"), take(weights, "norm")];
      const means = await policy.layerMeans(texts);
      assert.deepEqual(
        means.map((own) => own.length),
        Array.from({ length: layers + 1 }, () => texts.length),
      );
      texts.forEach((tokens, row) => {
        const wanted = Float64Array.from({ length: width }, (_, i) =>
          tokens.reduce((sum, token) => sum + embedding[token * width + i]! / tokens.length, 0),
        );
        assert.ok(largestDifference(Float64Array.from(means[0]![row]!), wanted) < 1e-5);
      });
      // Of a single token the mean is the state itself.
      const single = means[layers]![1]!;
      const scale = Math.sqrt(single.reduce((sum, value) => sum + value * value, 0) / width + epsilon);
      const normed = Float64Array.from(single, (value, i) => (value / scale) * gain[i]!);
      const [, final] = await policy.embed(texts, "mean");
      assert.ok(largestDifference(Float64Array.from(final!), normed) < 1e-4);
      const { tensors } = policy.counters();
      await policy.layerMeans(texts);
      assert.equal(policy.counters().tensors, tensors, "nothing is left on the device");
    } finally {
      policy.close();
    }
  });
