/** The gradient by every kind of weight against finite differences of the engine itself, in 64 bits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import { familyNames, folderOf } from "./families.ts";
import {
  batchOf,
  coefficientsOf,
  largestDifference,
  open,
  plan,
  randomRows,
  stir,
  tinyModel,
  weighBy,
} from "./support.ts";
import { some } from "../../support/thorough.ts";

const batch = batchOf(
  randomRows(
    [
      [5, 6],
      [1, 3],
      [9, 12],
    ],
    96,
  ),
);
const channels = ["logp", "entropy", "logsumexp"] as const;
const coefficients = Object.fromEntries(
  channels.map((channel) => [channel, coefficientsOf(batch.tokens.length, channel)]),
);
type Weights = Record<string, Float64Array>;

async function loss(policy: LanguageModel, weights: Weights): Promise<number> {
  policy.writeWeights(weights);
  const stats = await policy.score(batch, { model: "policy", channels });
  return channels.reduce(
    (sum, channel) =>
      stats[channel]!.reduce((total, value, i) => total + value * coefficients[channel]![i]!, sum),
    0,
  );
}

/** Derivative along a direction of one weight, to fourth order: (8·(f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h. */
async function slope(
  policy: LanguageModel,
  weights: Weights,
  name: string,
  direction: Float64Array,
): Promise<number> {
  const h = 5e-4;
  const at = (steps: number): Promise<number> =>
    loss(policy, {
      ...weights,
      [name]: weights[name]!.map((value, i) => value + steps * h * direction[i]!),
    });
  const near = (await at(1)) - (await at(-1));
  const far = (await at(2)) - (await at(-2));
  return (8 * near - far) / (12 * h);
}

/** Of length 1: the steepest entry, another one, and all entries at once. */
function directions(gradient: Float32Array, name: string): Float64Array[] {
  const size = gradient.map(Math.abs);
  const only = (index: number): Float64Array => Float64Array.from(gradient, (_, i) => (i === index ? 1 : 0));
  const random = new Stream("direction", name);
  const all = Float64Array.from(gradient, () => random.normal());
  const length = Math.hypot(...all);
  return [
    only(size.indexOf(Math.max(...size))),
    only(Math.floor(gradient.length / 3)),
    all.map((value) => value / length),
  ];
}

async function checkGradients(policy: LanguageModel): Promise<void> {
  const weights: Weights = Object.fromEntries(
    Object.entries(policy.readWeights()).map(([name, values]) => [name, Float64Array.from(values)]),
  );
  const gradients = policy.gradients(batch, plan(channels), weighBy(coefficients));
  assert.deepEqual(Object.keys(gradients).sort(), Object.keys(weights).sort());
  for (const [name, gradient] of Object.entries(gradients)) {
    for (const direction of directions(gradient, name)) {
      const ours = gradient.reduce((sum, value, i) => sum + value * direction[i]!, 0);
      const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const measured = await slope(policy, weights, name, direction);
      assert.ok(
        Math.abs(measured - ours) < 1e-6 * largest,
        `${name}: ${ours} instead of ${measured}, the largest being ${largest}`,
      );
    }
  }
}

for (const size of [{}, { kv_heads: 4, tied: false }]) {
  test(`gradients equal finite differences to a millionth, ${JSON.stringify(size)}`, async () => {
    const policy = await open({ model: tinyModel(size), native: { precision: "float64" }, threads: 1 });
    stir(policy);
    await checkGradients(policy);
    policy.close();
  });
}

for (const name of some(familyNames, 3)) {
  test(`gradients equal finite differences to a millionth, ${name}`, async () => {
    const model = { ...tinyModel(), base: folderOf(name) };
    const policy = await open({ model, native: { precision: "float64" }, threads: 1 });
    await checkGradients(policy);
    policy.close();
  });
}

test("the 64-bit engine is the 32-bit engine, and reads back what it was given", async () => {
  const [wide, narrow] = [await open({ native: { precision: "float64" } }), await open()];
  stir(narrow);
  wide.writeWeights(narrow.readWeights());
  assert.deepEqual(wide.readWeights(), narrow.readWeights());
  const [a, b] = [wide, narrow].map((policy) =>
    policy.gradients(batch, plan(channels), weighBy(coefficients)),
  );
  for (const [name, gradient] of Object.entries(a!))
    assert.ok(largestDifference(gradient, b![name]!) < 1e-5, name);
  const third = Float64Array.from(wide.readWeights()["norm"]!, () => 1 / 3);
  const before = await wide.score(batch, { model: "policy", channels: ["logp"] });
  wide.writeWeights({ ...wide.readWeights(), norm: third });
  const exact = await wide.score(batch, { model: "policy", channels: ["logp"] });
  wide.writeWeights({ ...wide.readWeights(), norm: Float32Array.from(third) });
  const rounded = await wide.score(batch, { model: "policy", channels: ["logp"] });
  assert.ok(largestDifference(exact.logp!, before.logp!) > 1e-3);
  const difference = largestDifference(exact.logp!, rounded.logp!);
  assert.ok(difference > 0 && difference < 1e-6, String(difference));
  const { tensors } = wide.counters();
  wide.gradients(batch, plan(channels), weighBy(coefficients));
  assert.equal(wide.counters().tensors, tensors);
  wide.close();
  narrow.close();
});
