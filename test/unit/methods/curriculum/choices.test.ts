/** Samplers over ranks, tiers, beliefs and boxes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { normalCumulative } from "../../../../server/lib/distributions.ts";
import { bandSampler } from "../../../../server/methods/curriculum/samplers/band.ts";
import { ClassedArms } from "../../../../server/methods/curriculum/fast/armClasses.ts";
import { expectedImprovement } from "../../../../server/methods/curriculum/samplers/expectedImprovement.ts";
import {
  akaike,
  fitMixture,
  drawComponent,
} from "../../../../server/methods/curriculum/samplers/mixtures/gaussianMixture.ts";
import { gaussianWindow } from "../../../../server/methods/curriculum/samplers/mixtures/gaussianWindow.ts";
import { gmm } from "../../../../server/methods/curriculum/samplers/gmm.ts";
import { greedy } from "../../../../server/methods/curriculum/samplers/greedy.ts";
import { mixture } from "../../../../server/methods/curriculum/samplers/mixture.ts";
import { prerequisites } from "../../../../server/methods/curriculum/samplers/prerequisites.ts";
import { selfRepellent } from "../../../../server/methods/curriculum/samplers/selfRepellent.ts";
import { tiers } from "../../../../server/methods/curriculum/samplers/tiers.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import type { ArmPool } from "../../../../server/core/slots/fastArms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";
import { chiSquare, clock, curriculumOf, group, outcomesOf, poolOf, sampling } from "./support.ts";

test("GAIN-RL's window: Gaussian over ranks; its centre moves by tanh of success and of angle, never back", () => {
  const values = [0.1, 0.9, 0.5];
  const sampler = sampling(gaussianWindow, { width: 1, step: 0.5, by_value: 1 });
  const at = (centre: number): number[] => {
    const weights = [2, 0, 1].map((rank) => Math.exp(-((rank - centre) ** 2) / 2));
    const sum = weights.reduce((total, w) => total + w, 0);
    return weights.map((w) => w / sum);
  };
  const check = (centre: number): void => {
    const p = sampler.probabilities(poolOf(values), clock);
    at(centre).forEach((share, arm) => assert.ok(near(p[arm], share)));
    assert.ok(chiSquare(sampler.draw(poolOf(values), 100_000, randomStream("w"), clock, []), p) < 13.8);
  };
  check(0);
  const learn = (groups: readonly Group[], arms: readonly number[], pool: ArmPool): void =>
    sampler.learn?.(outcomesOf(groups, arms, pool), pool, clock);
  learn([group([1, 1, 1, 0])], [1], poolOf(values));
  const moved = 0.5 * Math.tanh(2 * (0.75 - 0.5)) + 0.5 * Math.tanh(2 * 0.9);
  check(moved);
  learn([group([0, 0])], [0], poolOf([-5, 0.9, 0.5]));
  check(moved);
  // An arm of which nothing is known yet has no angle that could move it.
  learn([group([0, 0]), group([0, 0])], [0, 2], poolOf([-5, 0.9, undefined]));
  check(moved);
});

test("tiers share the draws by their quotas, whatever their sizes; empty ones give theirs up", () => {
  const sampler = sampling(tiers, { edges: [0.25, 0.75], quotas: [1, 2, 1], unknown: 1 });
  const p = sampler.probabilities(poolOf([0.1, 0.5, 0.6, 0.25, 0.9, undefined]), clock);
  const [low, middle, high] = [1 / 5, 2 / 5 / 3, 1 / 5];
  [low, middle, middle, middle, high, 1 / 5].forEach((share, arm) => assert.ok(near(p[arm], share)));
  assert.deepEqual([...sampler.probabilities(poolOf([0.5, 0.5]), clock)], [0.5, 0.5]);
  assert.throws(
    () => sampling(tiers, { edges: [0.5], quotas: [1, 2, 3] }),
    /2 tiers, and there are 3 quotas/,
  );
});

test("greedy takes the largest, what has not been looked at first; expected improvement weighs lead and doubt", () => {
  assert.deepEqual(
    sampling(greedy, {}).draw(poolOf([1, 3, 2], { once: true }), 2, randomStream(1), clock, []),
    [1, 2],
  );
  assert.deepEqual(sampling(greedy, {}).draw(poolOf([1, undefined]), 2, randomStream(1), clock, []), [1, 1]);
  const sampler = sampling(expectedImprovement, {});
  const draw = (spread: readonly number[]): number[] =>
    sampler.draw(poolOf([1, 0.9], { spread: (arm) => spread[arm]! }), 1, randomStream(1), clock, []);
  assert.deepEqual(draw([0.1, 0.01]), [0]);
  assert.deepEqual(draw([0.01, 0.5]), [1], "in doubt the lower one may be far better");
  for (const [z, expected] of [
    [0, 0.5],
    [1.959964, 0.975],
    [-1.281552, 0.1],
  ] as const)
    assert.ok(Math.abs(normalCumulative(z) - expected) < 1e-6);
});

test("self-repellent: what was drawn more than its share is drawn less, by the power of its excess", () => {
  const drawn = Float64Array.of(29, 9, 0);
  const known = poolOf([1, 1, 1], { groups: drawn });
  const p = sampling(selfRepellent, { repulsion: 2 }).probabilities(known, clock);
  const weights = [...drawn].map((n) => ((n + 1 / 3) / 39 / (1 / 3)) ** -2);
  const sum = weights.reduce((total, w) => total + w, 0);
  weights.forEach((w, arm) => assert.ok(near(p[arm], w / sum)));
  assert.deepEqual(
    [...sampling(selfRepellent, { repulsion: 0 }).probabilities(known, clock)].map((x) => x.toFixed(9)),
    Array(3).fill("0.333333333"),
  );
  assert.ok(
    chiSquare(
      sampling(selfRepellent, { repulsion: 1 }).draw(known, 100_000, randomStream("r"), clock, []),
      sampling(selfRepellent, { repulsion: 1 }).probabilities(known, clock),
    ) < 13.8,
  );
});

test("a band takes candidates inside it, then the nearest to it; a mixture is drawn as it is", () => {
  const known = poolOf([0.1, 0.35, 0.65, 0.75, 0.99], { once: true });
  const sampler = sampling(bandSampler, { low: 0.3, high: 0.7 });
  const three = sampler.draw(known, 3, randomStream("band"), clock, []);
  assert.deepEqual(new Set(three), new Set([1, 2, 3]));
  assert.equal(three[2], 3);
  assert.throws(() => sampling(bandSampler, { low: 0.7, high: 0.7 }), /must be below/);
  assert.deepEqual(
    [...sampling(mixture, {}).probabilities(poolOf([0.5, 0.25, 0.25]), clock)],
    [0.5, 0.25, 0.25],
  );
});

const cloud = (centre: readonly number[], spread: number, n: number): Float64Array[] =>
  Array.from({ length: n }, (_, i) =>
    drawComponent(
      { weight: 1, mean: Float64Array.from(centre), factor: Float64Array.of(spread, 0, spread / 2, spread) },
      randomStream("cloud", ...centre, i),
    ),
  );

test("a Gaussian mixture finds the clouds it was made of, and AIC prefers their number", () => {
  const points = [...cloud([0, 0], 0.1, 120), ...cloud([3, 1], 0.2, 80)];
  const fit = fitMixture(points, 2, randomStream("fit"));
  const [large, small] = [...fit].sort((a, b) => b.weight - a.weight);
  assert.ok(Math.abs(large!.weight - 0.6) < 1e-3 && Math.abs(small!.mean[0]! - 3) < 0.1);
  assert.ok(Math.abs(small!.factor[0]! - 0.2) < 0.04 && Math.abs(small!.factor[2]! - 0.1) < 0.05);
  const costs = [1, 2].map((k) => akaike(fitMixture(points, k, randomStream("fit")), points));
  assert.ok(costs[1]! < costs[0]!);
});

test("ALP-GMM: uniform until the first fit, then most points where the signal is", async () => {
  const curriculum = curriculumOf(
    "{ arms: { use: parameters, box: { length: [1, 64], letters: [2, 26] }, start: 2 }, signal: reward, estimator: last, sampler: { use: gmm, fit_every: 100, components: [2, 3] } }",
    "[{ env: reverse_text }]",
  );
  const { arms } = curriculum;
  const inside = (arm: number): boolean => arms.point!(arm)[0]! > 48;
  const shares: number[] = [];
  for (let step = 0; step < 12; step++) {
    const drawn = await curriculum.draw(50, randomStream("alp", step), { step, stageStep: step });
    const numbers = drawn.map(({ arm }) => arms.find(arm));
    shares.push(numbers.filter(inside).length / 50);
    for (const { task, arm } of drawn)
      assert.equal([...task.prompt].length - 1, arms.point!(arms.find(arm))[0]);
    const groups = drawn.map((one, i) => group([inside(numbers[i]!) ? 1 : 0], one));
    curriculum.observe(groups, [], { step, stageStep: step });
  }
  const mean = (from: number, to: number): number =>
    shares.slice(from, to).reduce((sum, x) => sum + x, 0) / (to - from);
  assert.ok(mean(0, 2) < 0.45, `${mean(0, 2)}: a quarter of the box`);
  assert.ok(mean(6, 12) > 0.7, `${mean(6, 12)}: 80 % and a quarter of the rest`);
  assert.equal(sampling(gmm, {}).probabilities(poolOf([]), clock).length, 0);
});

test("prerequisites: the frontier, a little of what is mastered and of what is locked", () => {
  // a → b → c → d, and e by itself; b has begun to succeed, d succeeds although c does not.
  const sampler = sampling(prerequisites, {
    requires: { b: ["a"], c: ["b"], d: ["c"] },
    opens: 0.3,
    review: 0.2,
    explore: 0.1,
  });
  const known = poolOf([0.9, 0.4, undefined, 0.3, undefined]);
  const p = sampler.probabilities(known, clock);
  [0.2, 0.7 / 3, 0.1, 0.7 / 3, 0.7 / 3].forEach((share, arm) => assert.ok(near(p[arm], share), `${arm}`));
  assert.ok(chiSquare(sampler.draw(known, 100_000, randomStream("p"), clock, []), p) < 18.5);
  const once = { ...known, once: true };
  assert.deepEqual(sampler.draw(once, 9, randomStream("p"), clock, []).sort(), [0, 1, 2, 3, 4]);
  // What groups without arms leave goes to the others; what may not be drawn is not.
  const all = sampler.probabilities(poolOf([0.9, 0.9, 0.9, 0.9, 0.9]), clock);
  assert.ok(all.every((share) => near(share, 0.2)));
  const closed = sampler.probabilities({ ...known, open: Uint8Array.of(0, 0, 1, 0, 0) }, clock);
  assert.deepEqual([...closed], [0, 0, 1, 0, 0]);
});

test("prerequisites among many prompts: those that require others are distinguished, and the rest are alike", () => {
  const requires = { a: ["b"], c: ["d"] };
  const known = poolOf([0.5, 0.9, 0.05, 0.5, 0.05, 0.5, undefined]);
  const alike = { ...known, once: true };
  for (const seed of ["s", "t", "u"]) {
    const sampler = sampling(prerequisites, { requires, opens: 0.4, review: 0.2, explore: 0.1 });
    const classes = new ClassedArms([(arm) => sampler.classes?.own?.(arm) ?? 0, known.estimate], 1);
    const few = { ...alike, classes: () => classes.classes(known.size, new Set()) };
    const drawn = Array.from({ length: 20_000 }, (_, at) =>
      sampler.draw(few, 1, randomStream(seed, at), clock, []),
    ).flat();
    // Of the first draw alone: c is locked, b mastered, the other five are the frontier.
    const p = [0.7 / 5, 0.2, 0.1, 0.7 / 5, 0.7 / 5, 0.7 / 5, 0.7 / 5];
    assert.deepEqual(
      [...sampler.probabilities(known, clock)].map((one) => one.toFixed(9)),
      p.map((one) => one.toFixed(9)),
    );
    // Six degrees of freedom, 99.9 %.
    assert.ok(chiSquare(drawn, p) < 22.5);
  }
});

test("prerequisites: circles, arms that are not there and shares above 1 are named", () => {
  assert.throws(
    () => sampling(prerequisites, { requires: { a: ["b"], b: ["c"], c: ["a"] } }),
    /circle: a → b → c → a/,
  );
  assert.throws(() => sampling(prerequisites, { review: 0.8, explore: 0.4 }), /1\.2/);
  const sampler = sampling(prerequisites, { requires: { a: ["z"] } });
  assert.throws(() => sampler.probabilities(poolOf([0.5, 0.5]), clock), /requires z/);
});
