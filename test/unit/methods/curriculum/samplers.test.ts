import assert from "node:assert/strict";
import { test } from "node:test";
import { boltzmann } from "../../../../server/methods/curriculum/samplers/boltzmann.ts";
import { mixture } from "../../../../server/methods/curriculum/samplers/mixture.ts";
import { proportional } from "../../../../server/methods/curriculum/samplers/proportional.ts";
import { selfRepellent } from "../../../../server/methods/curriculum/samplers/selfRepellent.ts";
import { uniform } from "../../../../server/methods/curriculum/samplers/uniform.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";
import { at, chiSquare, clock, poolOf, sampling } from "./support.ts";

test("Boltzmann draws with softmax probabilities (chi-square over 100,000 draws)", () => {
  const values = [0.1, 0.5, 0.9];
  const sampler = sampling(boltzmann, { temperature: 0.4 });
  const p = sampler.probabilities(poolOf(values), clock);
  const sum = values.reduce((total, q) => total + Math.exp(q / 0.4), 0);
  values.forEach((q, arm) => assert.ok(near(p[arm], Math.exp(q / 0.4) / sum)));
  const chi = chiSquare(sampler.draw(poolOf(values), 100_000, randomStream(3, "boltzmann"), clock, []), p);
  assert.ok(chi < 13.8, `χ² = ${chi}, 0.999 quantile with 2 degrees of freedom`);
});

test("Boltzmann bears huge estimates, a falling temperature and unknown arms", () => {
  const sampler = sampling(boltzmann, { temperature: { schedule: "linear", from: 1, to: 0, over: 10 } });
  assert.ok(near(sampler.probabilities(poolOf([1e6, 1e6]), clock)[0], 0.5));
  assert.deepEqual([...sampler.probabilities(poolOf([1, 2]), at(10))], [0, 1]);
  assert.deepEqual([...sampler.probabilities(poolOf([3, undefined]), clock)], [0.5, 0.5]);
});

test("proportional keeps its floor, and sums to 1; uniform is", () => {
  const p = sampling(proportional, { floor: 0.2 }).probabilities(poolOf([3, 1, -1]), clock);
  [0.2 / 3 + 0.6, 0.2 / 3 + 0.2, 0.2 / 3].forEach((value, arm) => assert.ok(near(p[arm], value)));
  assert.deepEqual([...sampling(uniform, {}).probabilities(poolOf([3, undefined]), clock)], [0.5, 0.5]);
});

test("closed arms are not drawn, and their share goes to the others", () => {
  const known = poolOf([1, 1, 1], { isOpen: (arm) => arm !== 1 });
  for (const sampler of [sampling(boltzmann, {}), sampling(proportional, {}), sampling(uniform, {})]) {
    assert.deepEqual([...sampler.probabilities(known, clock)], [0.5, 0, 0.5]);
    assert.ok(!sampler.draw(known, 1000, randomStream(4), clock, []).includes(1));
  }
});

test("without replacement every arm comes once, the likely ones early, and no more than there are", () => {
  const weights = [0.989, 0.01, 0.001, 0];
  const known = poolOf(weights, { once: true });
  const sampler = sampling(mixture, {});
  const drawn = (n: number, seed: number): number[] => sampler.draw(known, n, randomStream(seed), clock, []);
  for (let seed = 0; seed < 50; seed++) assert.deepEqual(new Set(drawn(10, seed)), new Set([0, 1, 2]));
  const first = Array.from({ length: 2000 }, (_, seed) => drawn(1, seed)[0]!);
  assert.ok(chiSquare(first, weights) < 13.8);
});

test("a narrow softmax goes on to the next best where the best are used up, however far below them (all of them come)", () => {
  const values = [0.3, 0.9, 0.1, 0.9, undefined, 0.2];
  const known = poolOf(values, { once: true, isOpen: (arm) => arm !== 5 });
  for (const temperature of [1e-4, { schedule: "linear", from: 1, to: 0, over: 1 }]) {
    const sampler = sampling(boltzmann, { temperature });
    const drawn = sampler.draw(known, 9, randomStream("narrow"), at(1), []);
    assert.deepEqual(new Set(drawn.slice(0, 3)), new Set([1, 3, 4]));
    assert.deepEqual(drawn.slice(3), [0, 2]);
    assert.deepEqual(sampler.draw(known, 9, randomStream("narrow"), at(1), []), drawn);
    // What is left is compared with what is left.
    const few = poolOf(values, { once: true, isOpen: (arm) => arm === 2 || arm === 5 });
    assert.ok(near(sampler.probabilities(few, at(1))[5], 1));
  }
});

test("of what is far below the best and alike, each comes as often (100,000 draws)", () => {
  const sampler = sampling(boltzmann, { temperature: 0.001 });
  const known = poolOf([2, 1, 1.0005, 1], { once: true });
  const second = Array.from(
    { length: 100_000 },
    (_, i) => sampler.draw(known, 2, randomStream("second", i), clock, [])[1]!,
  );
  const odds = [1, Math.exp(0.5), 1].map((weight) => weight / (2 + Math.exp(0.5)));
  const chi = chiSquare(second, [0, ...odds]);
  assert.ok(chi < 13.8, `χ² = ${chi}`);
});

test("the self-repellent sampler has the weights of its formula, and they may be below all numbers", () => {
  const values = [0.2, 0.5, 0.1];
  const drawn = Float64Array.of(3, 6, 0);
  const sampler = sampling(selfRepellent, { repulsion: 2, temperature: 0.3 });
  const weights = values.map((q) => Math.exp(q / 0.3));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const mu = weights.map((weight) => weight / sum);
  const corrected = mu.map((share, arm) => share * ((drawn[arm]! + share) / 10 / share) ** -2);
  const all = corrected.reduce((total, weight) => total + weight, 0);
  const p = sampler.probabilities(poolOf(values, { groups: drawn }), clock);
  corrected.forEach((weight, arm) => assert.ok(near(p[arm], weight / all)));

  const narrow = sampling(selfRepellent, { repulsion: 2, temperature: 1e-4 });
  const known = poolOf(values, { groups: drawn, once: true });
  // What was drawn with next to no share is repelled more than what is below it and was never drawn.
  assert.deepEqual(narrow.draw(known, 3, randomStream("narrow"), clock, []), [1, 2, 0]);
});
