/** Posteriors, bounds and nearest candidates against their closed forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { beta } from "../../../../server/methods/curriculum/estimators/beta.ts";
import { nearest } from "../../../../server/methods/curriculum/samplers/nearest.ts";
import { sorted } from "../../../../server/methods/curriculum/samplers/sorted.ts";
import { thompson } from "../../../../server/methods/curriculum/samplers/thompson.ts";
import { boltzmann } from "../../../../server/methods/curriculum/samplers/boltzmann.ts";
import { ucbSoftmax } from "../../../../server/methods/curriculum/samplers/ucbSoftmax.ts";
import { failureRatio } from "../../../../server/methods/curriculum/signals/failureRatio.ts";
import { targetDistance } from "../../../../server/methods/curriculum/signals/targetDistance.ts";
import { variance } from "../../../../server/methods/curriculum/signals/variance.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { made, near } from "../../support.ts";
import { chiSquare, clock, poolOf, observed, sampling } from "./support.ts";

test("the Beta posterior counts, forgets by λ towards its prior, and has its mean and spread", () => {
  const estimator = made(beta, { alpha: 2, beta: 3, decay: 0.5 });
  let [a, b] = [2, 3];
  for (const [successes, failures] of [
    [3, 1],
    [0, 4],
    [8, 0],
  ] as const) {
    const values = [...Array<number>(successes).fill(1), ...Array<number>(failures).fill(0)];
    estimator.observe(observed(0, ...values), 0);
    a = 0.5 * a + 0.5 * 2 + successes;
    b = 0.5 * b + 0.5 * 3 + failures;
    assert.ok(near(estimator.estimate(0), a / (a + b)));
    assert.ok(near(estimator.posterior?.spread(0), Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)))));
  }
  assert.equal(estimator.estimate(1), 0.4, "an arm that was never seen has the prior");
});

test("draws from the posterior have its mean and variance", () => {
  for (const counts of [
    [0, 0],
    [1, 7],
    [40, 60],
  ] as const) {
    const estimator = made(beta, { alpha: 0.5, beta: 0.5 });
    const values = [...Array<number>(counts[0]).fill(1), ...Array<number>(counts[1]).fill(0)];
    if (values.length > 0) estimator.observe(observed(0, ...values), 0);
    const drawn = Array.from({ length: 20_000 }, (_, i) =>
      estimator.posterior!.draw(0, randomStream("beta", i)),
    );
    const mean = drawn.reduce((sum, x) => sum + x, 0) / drawn.length;
    const variance = drawn.reduce((sum, x) => sum + (x - mean) ** 2, 0) / drawn.length;
    const spread = estimator.posterior!.spread(0);
    assert.ok(Math.abs(mean - estimator.estimate(0)) < (4 * spread) / Math.sqrt(drawn.length));
    assert.ok(Math.abs(variance / spread ** 2 - 1) < 0.06, `${variance} is not near ${spread ** 2}`);
  }
});

test("UCB-softmax: probabilities as written, by chi-square; an arm that is not drawn gains odds as the rest is seen", () => {
  const sampler = sampling(ucbSoftmax, {});
  const [values, seen] = [[0.5, 0.3, 0.4], Float64Array.of(300, 100, 20)];
  const p = sampler.probabilities(poolOf(values, { rollouts: seen }), clock);
  const weights = values.map((q, j) => Math.exp((q + Math.sqrt((2 * Math.log(421)) / (seen[j]! + 1))) / 0.1));
  const sum = weights.reduce((total, w) => total + w, 0);
  weights.forEach((weight, arm) => assert.ok(near(p[arm], weight / sum, 1e-9)));
  const drawn = sampler.draw(poolOf(values, { rollouts: seen }), 100_000, randomStream("ucb"), clock, []);
  assert.ok(chiSquare(drawn, p) < 13.8);
  let odds = 0;
  for (let n = 100; n <= 100_000; n *= 10) {
    const shares = sampler.probabilities(poolOf([0.5, 0.5], { rollouts: Float64Array.of(n, 50) }), clock);
    assert.ok(shares[1]! / shares[0]! > odds);
    odds = shares[1]! / shares[0]!;
  }
});

test("signals of success: what is observed are successes, what is compared is a function of their rate", () => {
  for (const [signal, expected] of [
    [made(variance, {}), Math.sqrt(0.25 * 0.75)],
    [made(variance, { root: false }), 0.25 * 0.75],
    [made(targetDistance, { target: 0.4 }), -0.15],
    [made(failureRatio, {}), 0.75],
  ] as const)
    assert.ok(near(signal.score?.(0.25), expected));
});

test("a softmax over failure rates is exp((0.5 − s)/τ), normalised", () => {
  const rates = [0.1, 0.5, 0.9];
  const score = made(failureRatio, {}).score!;
  const p = sampling(boltzmann, { temperature: 0.3 }).probabilities(poolOf(rates.map(score)), clock);
  const sum = rates.reduce((total, s) => total + Math.exp((0.5 - s) / 0.3), 0);
  rates.forEach((s, arm) => assert.ok(near(p[arm], Math.exp((0.5 - s) / 0.3) / sum)));
});

test("nearest takes the m candidates of least |V − τ|, and only open ones", () => {
  const values = Array.from({ length: 64 }, (_, arm) => arm / 64);
  const sampler = sampling(nearest, { target: 0.5, pool: 4 });
  const known = poolOf(values, { once: true, isOpen: (arm) => arm !== 32 });
  const candidates = sampler.candidates!(known, 8, randomStream("pcl"), clock);
  assert.equal(new Set(candidates).size, 32);
  assert.ok(!candidates.includes(32));
  const drawn = sampler.draw(known, 8, randomStream("pcl"), clock, candidates);
  const distance = (arm: number): number => Math.abs(values[arm]! - 0.5);
  const expected = candidates.map(distance).sort((a, b) => a - b);
  assert.deepEqual(drawn.map(distance), expected.slice(0, 8));
});

test("Thompson takes those whose draw is nearest the target: certain arms by their rate, in a pool of k·n", () => {
  const rates = [0.05, 0.5, 0.52, 0.95, 0.1, 0.9];
  const known = poolOf(rates, { once: true, draw: (arm) => rates[arm]! });
  const sampler = sampling(thompson, { pool: 3 });
  assert.deepEqual(sampler.draw(known, 2, randomStream("thompson"), clock, []), [1, 2]);
  const wide = poolOf(rates, { draw: (_, random) => random.next() });
  const drawn = Array.from(
    { length: 20_000 },
    (_, i) => sampler.draw(wide, 1, randomStream("wide", i), clock, [])[0]!,
  );
  assert.ok(chiSquare(drawn, new Float64Array(6).fill(1 / 6)) < 20.5, "who knows nothing prefers nobody");
});

test("sorted walks from easy to hard, each arm once a pass, and goes on where it stopped", () => {
  const known = poolOf([0.1, 0.9, undefined, 0.5, 0.5], { once: true });
  const sampler = sampling(sorted, {});
  assert.deepEqual(sampler.draw(known, 2, randomStream(1), clock, []), [1, 3]);
  const copy = sampling(sorted, {});
  copy.load?.(sampler.save!());
  for (const one of [sampler, copy])
    assert.deepEqual(one.draw(known, 4, randomStream(1), clock, []), [4, 0, 2, 1]);
  const rising = sampling(sorted, { order: "ascending" });
  assert.deepEqual(rising.draw(known, 9, randomStream(1), clock, []), [0, 3, 4, 1, 2], "no arm twice a step");
});
