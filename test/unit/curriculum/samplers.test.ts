import assert from "node:assert/strict";
import { test } from "node:test";
import { boltzmann } from "../../../server/curriculum/samplers/boltzmann.ts";
import { mixture } from "../../../server/curriculum/samplers/mixture.ts";
import { proportional } from "../../../server/curriculum/samplers/proportional.ts";
import { uniform } from "../../../server/curriculum/samplers/uniform.ts";
import { randomStream } from "../../../server/random.ts";
import { made, near } from "../support.ts";
import { at, chiSquare, clock, knownOf } from "./support.ts";

test("Boltzmann draws with softmax probabilities (chi-square over 100,000 draws)", () => {
  const values = [0.1, 0.5, 0.9];
  const sampler = made(boltzmann, { temperature: 0.4 });
  const p = sampler.probabilities(knownOf(values), clock);
  const sum = values.reduce((total, q) => total + Math.exp(q / 0.4), 0);
  values.forEach((q, arm) => assert.ok(near(p[arm], Math.exp(q / 0.4) / sum)));
  const chi = chiSquare(sampler.draw(knownOf(values), 100_000, randomStream(3, "boltzmann"), clock, []), p);
  assert.ok(chi < 13.8, `χ² = ${chi}, 0.999 quantile with 2 degrees of freedom`);
});

test("Boltzmann stands huge estimates, a falling temperature and unknown arms", () => {
  const sampler = made(boltzmann, { temperature: { schedule: "linear", from: 1, to: 0, over: 10 } });
  assert.ok(near(sampler.probabilities(knownOf([1e6, 1e6]), clock)[0], 0.5));
  assert.deepEqual([...sampler.probabilities(knownOf([1, 2]), at(10))], [0, 1]);
  assert.deepEqual([...sampler.probabilities(knownOf([3, undefined]), clock)], [0.5, 0.5]);
});

test("proportional keeps its floor, and sums to 1; uniform is", () => {
  const p = made(proportional, { floor: 0.2 }).probabilities(knownOf([3, 1, -1]), clock);
  [0.2 / 3 + 0.6, 0.2 / 3 + 0.2, 0.2 / 3].forEach((value, arm) => assert.ok(near(p[arm], value)));
  assert.deepEqual([...made(uniform, {}).probabilities(knownOf([3, undefined]), clock)], [0.5, 0.5]);
});

test("closed arms are not drawn, and their share goes to the others", () => {
  const known = knownOf([1, 1, 1], { open: (arm) => arm !== 1 });
  for (const sampler of [made(boltzmann, {}), made(proportional, {}), made(uniform, {})]) {
    assert.deepEqual([...sampler.probabilities(known, clock)], [0.5, 0, 0.5]);
    assert.ok(!sampler.draw(known, 1000, randomStream(4), clock, []).includes(1));
  }
});

test("without replacement every arm comes once, the likely ones early, and no more than there are", () => {
  const weights = [0.989, 0.01, 0.001, 0];
  const known = knownOf(weights, { once: true });
  const sampler = made(mixture, {});
  const drawn = (n: number, seed: number): number[] => sampler.draw(known, n, randomStream(seed), clock, []);
  for (let seed = 0; seed < 50; seed++) assert.deepEqual(new Set(drawn(10, seed)), new Set([0, 1, 2]));
  const first = Array.from({ length: 2000 }, (_, seed) => drawn(1, seed)[0]!);
  assert.ok(chiSquare(first, weights) < 13.8);
});
