/** BOTS's posterior: counts of drawn prompts, and pseudo-counts of the others by the rates of two reference models. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interpolatedBeta } from "../../../../server/methods/curriculum/estimators/interpolatedBeta.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { ArmSet } from "../../../../server/core/slots/arms.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { made, near } from "../../support.ts";
import { task } from "./support.ts";

const fields = { weak_field: "weak", strong_field: "strong" };
const armsOf = (data: readonly JsonObject[]): ArmSet =>
  Object.assign(new NamedArms(data.map((_, i) => `t${i}`)), {
    task: (arm: number) => ({ ...task, id: `t${arm}`, data: data[arm]! }),
  });
const pool = (rates: readonly (readonly [weak: number, strong: number])[]): ArmSet =>
  armsOf(rates.map(([weak, strong]) => ({ weak, strong })));

/** The update of all prompts as its definition has it, over whole vectors. */
function expected(
  rates: readonly (readonly [number, number])[],
  steps: readonly ReadonlyMap<number, number>[],
  [forget, implicit, m]: readonly [number, number, number],
): { alpha: number[]; beta: number[] } {
  let alpha = rates.map(() => 1);
  let beta = rates.map(() => 1);
  let c: number | undefined;
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  for (const drawn of steps) {
    const anchors = [0, 1].map((k) => mean([...drawn.keys()].map((i) => rates[i]![k]!)));
    const now = (mean([...drawn.values()]) - anchors[0]!) / (anchors[1]! - anchors[0]! + 1e-6);
    c = c === undefined ? now : 0.9 * c + 0.1 * now;
    const predicted = rates.map(([w, g], i) => drawn.get(i) ?? Math.min(1, Math.max(0, (g - w) * c! + w)));
    const own = (i: number): number => (drawn.has(i) ? (1 - implicit) * m : 0);
    alpha = alpha.map((a, i) => (1 - forget) * a + forget + (own(i) + implicit * m) * predicted[i]!);
    beta = beta.map((b, i) => (1 - forget) * b + forget + (own(i) + implicit * m) * (1 - predicted[i]!));
  }
  return { alpha, beta };
}

test("the posterior of every prompt is that of the released update, drawn or not, and is saved", () => {
  const random = randomStream(5);
  const rates = Array.from({ length: 12 }, () => [random.next() * 0.5, 0.5 + random.next() * 0.5] as const);
  const steps = Array.from(
    { length: 6 },
    (_, step) => new Map([0, 1, 2].map((k) => [(step * 3 + k) % 10, Math.round(random.next() * 16) / 16])),
  );
  const estimator = made(interpolatedBeta, { ...fields, forget: 0.2, implicit: 0.3 });
  estimator.addArms?.(pool(rates));
  const again = made(interpolatedBeta, { ...fields, forget: 0.2, implicit: 0.3 });
  again.addArms?.(pool(rates));
  steps.forEach((drawn, step) => {
    for (const one of [estimator, again]) {
      for (const [arm, mean] of drawn) one.observe({ arm, mean, values: [], rollouts: 16 }, step);
      one.endStep?.();
    }
    again.load(structuredClone(estimator.save()));
  });
  const { alpha, beta } = expected(rates, steps, [0.2, 0.3, 16]);
  for (const one of [estimator, again])
    rates.forEach((_, arm) => {
      const [a, b] = one.posterior!.shapes!(arm);
      assert.ok(near(a, alpha[arm]!, 1e-9) && near(b, beta[arm]!, 1e-9), `${arm}: ${a}, ${b}`);
      assert.ok(near(one.estimate(arm), a / (a + b)));
    });
});

test("by hand: one prompt drawn half-way between the models moves the other to half-way between its own", () => {
  const estimator = made(interpolatedBeta, fields);
  estimator.addArms?.(
    pool([
      [0.2, 0.6],
      [0.1, 0.9],
    ]),
  );
  estimator.observe({ arm: 0, mean: 0.4, values: [], rollouts: 16 }, 0);
  estimator.endStep?.();
  // c = 0.2 / 0.4, p̃ = 0.1 + 0.8 / 2; 0.9 + 0.1 and 0.1 · 16 rollouts.
  const [a, b] = estimator.posterior!.shapes!(1);
  assert.ok(near(a, 1 + 1.6 * 0.5, 1e-5) && near(b, 1 + 1.6 * 0.5, 1e-5));
  assert.deepEqual(
    estimator.posterior!.shapes!(0).map((x) => Math.round(x * 1e9) / 1e9),
    [7.4, 10.6],
  );
});

test("a planted ability is found for prompts that were never drawn, and without fields they stay as they were", () => {
  const rates = Array.from({ length: 40 }, (_, i) => [i / 80, 0.5 + i / 80] as const);
  const known = made(interpolatedBeta, fields);
  const blind = made(interpolatedBeta, {});
  for (const one of [known, blind]) {
    one.addArms?.(pool(rates));
    for (let step = 0; step < 30; step++) {
      for (const arm of [0, 10, 20, 30])
        one.observe({ arm, mean: rates[arm]![0] + 0.3, values: [], rollouts: 16 }, step);
      one.endStep?.();
    }
  }
  for (const arm of [5, 15, 35]) {
    const truth = rates[arm]![0] + 0.3;
    assert.ok(Math.abs(known.estimate(arm) - truth) < 0.03, `${arm}: ${known.estimate(arm)}`);
    assert.ok(near(blind.estimate(arm), 0.5));
  }
});

test("one field alone, and a prompt without a rate, are named", () => {
  assert.throws(() => made(interpolatedBeta, { weak_field: "weak" }), /one is named/);
  const estimator = made(interpolatedBeta, fields);
  assert.throws(() => estimator.addArms?.(armsOf([{ weak: 0.1 }])), /field strong/);
});
