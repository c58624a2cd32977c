/** Angles between a prompt's states, against every pair of states in 64-bit arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { Angles, Questioned } from "../../../server/core/states.ts";
import { statesOf, widen } from "./reference.ts";
import {
  batchOf,
  largestDifference,
  open,
  optimizer,
  plan,
  randomRows,
  stir,
  supervised,
  tinyModel,
} from "./support.ts";

const asked = (context: number, question: number, behind = 0): Questioned => {
  const [row] = randomRows([[context + question + behind, 0]]);
  return { tokens: Int32Array.from(row!.context), from: context, to: context + question };
};
/** Introductions of any length, none too; something after the question; a question of one token. */
const prompts = [asked(1, 7), asked(5, 3), asked(0, 9), asked(12, 1), asked(6, 11, 4), asked(3, 6, 2)];

function expected(policy: LanguageModel): Angles {
  const { shape } = policy;
  const weights = widen(toPublic(shape, policy.readWeights()));
  const cosine = (x: Float64Array, y: Float64Array): number =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0) / (Math.hypot(...x) * Math.hypot(...y));
  const mean = (a: readonly Float64Array[], b: readonly Float64Array[]): number =>
    b.length === 0
      ? 0
      : a.reduce((sum, x) => sum + b.reduce((all, y) => all + cosine(x, y), 0), 0) / (a.length * b.length);
  const found = prompts.map(({ tokens, from, to }) => {
    let states: readonly Float64Array[] = [];
    statesOf(shape, weights, [...tokens], (layer, given) => {
      if (layer === shape.layers - 1) states = given;
    });
    const question = states.slice(from, to);
    return { intra: mean(question, question), inter: mean(question, states.slice(0, from)) };
  });
  return {
    intra: Float64Array.from(found, ({ intra }) => intra),
    inter: Float64Array.from(found, ({ inter }) => inter),
  };
}

async function agrees(policy: LanguageModel): Promise<void> {
  const wanted = expected(policy);
  const { intra, inter } = await policy.angles(prompts);
  assert.ok(largestDifference(intra, wanted.intra) < 1e-5);
  assert.ok(largestDifference(inter, wanted.inter) < 1e-5);
}

const adapter = { rank: 2, alpha: 4, targets: ["q", "v", "up"], dropout: 0 } as const;
for (const [what, options] of [
  ["native", {}],
  ["native, one layer, other heads", { model: tinyModel({ layers: 1, kv_heads: 4, tied: false }) }],
  ["native, an adapter", { model: { ...tinyModel({ layers: 3 }), adapter } }],
  ["WebAssembly", { backend: "wasm" }],
] as const)
  test(`angles are the mean cosines of what the last feed-forward reads: ${what}`, async () => {
    const policy = await open({ ...options });
    try {
      if (!("model" in options && "adapter" in options.model)) stir(policy);
      await agrees(policy);
      const { tensors } = policy.counters();
      await policy.angles(prompts);
      assert.equal(policy.counters().tensors, tensors, "nothing is left on the device");
    } finally {
      policy.close();
    }
  });

test("gains of the norm count, and angles are those of the present weights", async () => {
  const policy = await open({ optimizer: optimizer({ lr: 0.05 }) });
  try {
    stir(policy);
    await policy.snapshot("before");
    const before = await policy.angles(prompts);
    const rows = batchOf(
      randomRows([
        [4, 8],
        [2, 5],
      ]),
    );
    for (let step = 0; step < 3; step++) await policy.update(rows, plan(["logp"]), supervised);
    await agrees(policy);
    assert.ok(largestDifference((await policy.angles(prompts)).intra, before.intra) > 1e-3);
    assert.deepEqual(await policy.angles(prompts, "before"), before);
  } finally {
    policy.close();
  }
});

test("a prompt is of the same angles whatever it is looked at with", async () => {
  const policy = await open();
  try {
    stir(policy);
    const together = await policy.angles(prompts);
    for (const [i, prompt] of prompts.entries()) {
      const { intra, inter } = await policy.angles([prompt]);
      assert.ok(Math.abs(intra[0]! - together.intra[i]!) < 1e-5);
      assert.ok(Math.abs(inter[0]! - together.inter[i]!) < 1e-5);
    }
    await assert.rejects(policy.angles([asked(20, 60)]), /context is 48/);
  } finally {
    policy.close();
  }
});
