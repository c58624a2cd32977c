/** Vectors of texts, against the states of a decoder in plain 64-bit arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { Pooling } from "../../../server/core/states.ts";
import { statesOf, widen } from "./reference.ts";
import { largestDifference, open, randomRows, stir, tinyModel } from "./support.ts";

/** Of any length, one token too. */
const texts = [7, 1, 12, 3, 20].map((length) => Int32Array.from(randomRows([[length, 0]])[0]!.context));

function expected(policy: LanguageModel, pooling: Pooling): Float64Array[] {
  const { shape } = policy;
  const weights = widen(toPublic(shape, policy.readWeights()));
  return texts.map((tokens) => {
    const states = statesOf(shape, weights, [...tokens]);
    if (pooling === "last") return states.at(-1)!;
    return states[0]!.map((_, i) => states.reduce((sum, state) => sum + state[i]!, 0) / states.length);
  });
}

for (const [what, options] of [
  ["native, one matrix for words and head", {}],
  ["native, a head of its own, whose gain is folded", { model: tinyModel({ tied: false }) }],
  ["WebAssembly", { backend: "wasm" }],
] as const)
  for (const pooling of ["last", "mean"] as const)
    test(`a text's vector is its final states' ${pooling}: ${what}`, async () => {
      const policy = await open({ ...options });
      try {
        stir(policy);
        const wanted = expected(policy, pooling);
        const found = await policy.embed(texts, pooling);
        found.forEach((vector, i) =>
          assert.ok(largestDifference(Float64Array.from(vector), wanted[i]!) < 1e-4),
        );
        const { tensors } = policy.counters();
        const [alone] = await policy.embed(texts.slice(2, 3), pooling);
        assert.ok(largestDifference(Float64Array.from(alone!), Float64Array.from(found[2]!)) < 1e-5);
        assert.equal(policy.counters().tensors, tensors, "nothing is left on the device");
        assert.deepEqual(await policy.embed([], pooling), []);
      } finally {
        policy.close();
      }
    });
