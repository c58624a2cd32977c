/** Identities of the papers, through the parts that presets choose. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { create } from "../../../../server/core/create.ts";
import { successBand } from "../../../../server/methods/curriculum/admission/successBand.ts";
import { beta } from "../../../../server/methods/curriculum/estimators/beta.ts";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { lifted } from "../../../../server/methods/curriculum/fast/lifted.ts";
import { gmm } from "../../../../server/methods/curriculum/samplers/gmm.ts";
import { mixture } from "../../../../server/methods/curriculum/samplers/mixture.ts";
import { proportional } from "../../../../server/methods/curriculum/samplers/proportional.ts";
import { thompson } from "../../../../server/methods/curriculum/samplers/thompson.ts";
import { tiers } from "../../../../server/methods/curriculum/samplers/tiers.ts";
import { uniform } from "../../../../server/methods/curriculum/samplers/uniform.ts";
import { variance } from "../../../../server/methods/curriculum/signals/variance.ts";
import type { Admission } from "../../../../server/core/slots/curriculum.ts";
import type { FastSampler } from "../../../../server/core/slots/fastArms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { configOf, made, near } from "../../support.ts";
import { chiSquare, clock, group, poolOf, observed, sampling } from "./support.ts";

const bodyOf = (preset: string) =>
  configOf(`extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n`).top;
const contextFor = (body: ReturnType<typeof bodyOf>) => contextOf(body, { random: randomStream(1) });
function samplerOf(preset: string): FastSampler {
  const body = bodyOf(preset);
  return lifted(create(body.curriculum.sampler, contextFor(body)));
}
function admissionOf(preset: string): Admission {
  const body = bodyOf(preset);
  return create(body.curriculum.admission, contextFor(body));
}

test("SEC: what is not drawn keeps its value in the paper, and loses half of it a step in the released code", () => {
  for (const [preset, left] of [
    ["sec", 0.4],
    ["sec-released", 0.4 / 2 ** 3],
  ] as const) {
    const body = bodyOf(preset);
    const estimator = create(body.curriculum.estimator, contextFor(body));
    estimator.observe(observed(0, 0.8), 0);
    estimator.endStep?.();
    for (let step = 1; step <= 3; step++) {
      estimator.observe(observed(1, 1), step);
      estimator.endStep?.();
    }
    assert.ok(near(estimator.estimate(0), left), preset);
    assert.ok(near(estimator.estimate(1), 1 - 0.5 ** 3));
  }
});

test("DUMP: with the means held, the odds of an arm that is not drawn are exp((b_u − b_d)/0.1), and rise as N does", () => {
  const sampler = samplerOf("dump");
  const bound = (n: number, all: number): number => Math.sqrt((2 * Math.log(all + 1)) / (n + 1));
  let before = 0;
  for (const n of [8, 64, 512, 4096, 32768]) {
    const [left, drawn] = [64, n];
    const p = sampler.probabilities(poolOf([0.3, 0.7], { rollouts: Float64Array.of(left, drawn) }), clock);
    const odds = Math.exp((0.3 - 0.7 + bound(left, left + drawn) - bound(drawn, left + drawn)) / 0.1);
    assert.ok(near(p[0]! / p[1]!, odds, 1e-9));
    assert.ok(odds > before);
    before = odds;
  }
  // Nothing seen: ln 1 is 0, and all are alike. Nothing seen of one: its bonus alone speaks.
  assert.deepEqual([...sampler.probabilities(poolOf([undefined, undefined]), clock)], [0.5, 0.5]);
  const fresh = sampler.probabilities(poolOf([undefined, 1], { rollouts: Float64Array.of(0, 300) }), clock);
  assert.ok(near(fresh[0]! / fresh[1]!, Math.exp((bound(0, 300) - 1 - bound(300, 300)) / 0.1), 1e-9));
});

test("PCL: of 4·m candidates the m of least |V − 0.5|, whatever came before", () => {
  const sampler = samplerOf("pcl");
  const values = Array.from({ length: 400 }, (_, arm) => ((arm * 73) % 400) / 400);
  const known = poolOf(values, { once: true });
  for (let seed = 0; seed < 20; seed++) {
    const random = randomStream("pcl", seed);
    const candidates = sampler.candidates!(known, 16, random, clock);
    assert.equal(new Set(candidates).size, 64);
    const distance = (arm: number): number => Math.abs(values[arm]! - 0.5);
    const drawn = sampler.draw(known, 16, random, clock, candidates);
    const left = candidates.filter((arm) => !drawn.includes(arm));
    assert.equal(new Set(drawn).size, 16);
    assert.ok(Math.max(...drawn.map(distance)) <= Math.min(...left.map(distance)));
  }
});

test("balanced filtering: log Z − p/β has p(1 − p)/2β² as its second order, most at one half; a band about it keeps most", () => {
  const spread = made(variance, { root: false }).score!;
  const bound = (p: number, b: number): number => Math.log1p(p * Math.expm1(1 / b)) - p / b;
  const rates = Array.from({ length: 17 }, (_, right) => right / 16);
  for (const p of rates) {
    for (const b of [100, 1000]) assert.ok(Math.abs(bound(p, b) * 2 * b * b - spread(p)) < 0.2 / b);
    assert.ok(spread(p) <= spread(0.5));
  }
  assert.deepEqual([spread(0), spread(1)], [0, 0]);
  /** Mean of the bound's second order over groups of 16 that are kept, where all rates are as likely. */
  const kept = (admission: Admission): number => {
    const in16 = rates.filter(
      (p) => admission.admit(group(Array.from({ length: 16 }, (_, i) => Number(i < 16 * p)))).admitted,
    );
    return in16.reduce((sum, p) => sum + spread(p), 0) / in16.length;
  };
  const symmetric = kept(admissionOf("balanced-filtering"));
  const oneSided = [
    { low: 0, high: 0.6 },
    { low: 0.4, high: 1 },
  ].map((band) => kept(made(successBand, band)));
  assert.ok(oneSided.every((other) => other < symmetric));
  assert.ok(near(oneSided[0], oneSided[1]!));
});

test("bands: of PRIME and balanced filtering with their ends, of MM-Eureka, and of DAPO strictly between 0 and 1", () => {
  const rightOf10 = (preset: string): number[] => {
    const admission = admissionOf(preset);
    return [...Array(11).keys()].filter(
      (right) => admission.admit(group(Array.from({ length: 10 }, (_, i) => Number(i < right)))).admitted,
    );
  };
  for (const preset of ["prime", "balanced-filtering"])
    assert.deepEqual(rightOf10(preset), [2, 3, 4, 5, 6, 7, 8], preset);
  for (const preset of ["mm-eureka", "dapo", "codev-r1"])
    assert.deepEqual(rightOf10(preset), [1, 2, 3, 4, 5, 6, 7, 8, 9], preset);
});

test("eva: prompts in proportion to best less worst, next to the floor", () => {
  const p = samplerOf("eva-sampling").probabilities(poolOf([0.2, 0.6, 0]), clock);
  [0.25, 0.75, 0].forEach((share, arm) => assert.ok(near(p[arm], 0.1 / 3 + 0.9 * share)));
});

test("MoPPS: of Beta(1, 1) and Beta(2, 2) the second is imagined nearer one half five times in eight (100,000 draws)", () => {
  const estimator = made(beta, {});
  estimator.observe(observed(1, 1, 0), 0);
  const known = poolOf([0.5, 0.5], {
    once: true,
    draw: (arm, random) => estimator.posterior!.draw(arm, random),
  });
  const sampler = sampling(thompson, { pool: 2 });
  const drawn = Array.from(
    { length: 100_000 },
    (_, i) => sampler.draw(known, 1, randomStream("five of eight", i), clock, [])[0]!,
  );
  const chi = chiSquare(drawn, [3 / 8, 5 / 8]);
  assert.ok(chi < 10.8, `χ² = ${chi}, 0.999 quantile with 1 degree of freedom`);
});

test("MoPPS's band: those imagined in [0.3, 0.7], then the nearest to it", () => {
  const rates = [0.05, 0.3, 0.7, 0.28, 0.9, 0.5];
  const known = poolOf(rates, { once: true, draw: (arm) => rates[arm]! });
  const sampler = samplerOf("mopps-threshold");
  const drawn = sampler.draw(known, 4, randomStream("band"), clock, []);
  assert.deepEqual(new Set(drawn.slice(0, 3)), new Set([1, 2, 5]));
  assert.equal(drawn[3], 3);
});

test("ALP-GMM: components with odds of their mean progress, a fifth of the points anywhere (100,000 draws)", () => {
  // Two narrow clouds in the corners of the unit box, of mean progress 0.1 and 0.3, one in the middle without any.
  const cloud = (x: number, signal: number): [number, number[], number[]] => [
    1 / 3,
    [x, x, signal],
    [1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3],
  ];
  const sampler = sampling(gmm, {});
  sampler.load!({
    json: {
      probes: 0,
      fitted: { groups: 250, recent: [], mixture: [cloud(0.1, 0.1), cloud(0.9, 0.3), cloud(0.5, 0)] },
    },
  });
  const box = ["a", "b"].map((name) => ({ name, low: 0, high: 1000, whole: false }));
  const points: (readonly number[])[] = [];
  const arms = Object.assign(new NamedArms([]), {
    box,
    place: (point: readonly number[]) => points.push(point) - 1,
  });
  const known = poolOf([], { arms });
  sampler.draw(known, 100_000, randomStream("odds"), clock, []);
  const cells = points.map(([a, b]) => {
    const inside = (centre: number): boolean => Math.abs(a! - centre) < 10 && Math.abs(b! - centre) < 10;
    return inside(100) ? 0 : inside(900) ? 1 : inside(500) ? 2 : 3;
  });
  const near0 = 0.2 * (20 / 1000) ** 2;
  const chi = chiSquare(cells, [0.8 / 4 + near0, (0.8 * 3) / 4 + near0, near0, 0.2 - 3 * near0]);
  assert.ok(chi < 16.3, `χ² = ${chi}, 0.999 quantile with 3 degrees of freedom`);
});

const drawers: Readonly<Record<string, FastSampler>> = {
  uniform: sampling(uniform, {}),
  proportional: sampling(proportional, { floor: 0.1 }),
  tiers: sampling(tiers, { edges: [0.2, 0.5], quotas: [1, 4, 1] }),
  mixture: sampling(mixture, {}),
};
for (const [name, sampler] of Object.entries(drawers))
  test(`${name}: arms come as often as it says (chi-square over 100,000 draws)`, () => {
    const known = poolOf([0.05, 0.15, 0.3, 0.4, 0.1], { prior: (arm) => arm + 1 });
    const p = sampler.probabilities(known, clock);
    const drawn = sampler.draw(known, 100_000, randomStream("as often", name), clock, []);
    const chi = chiSquare(drawn, p);
    assert.ok(chi < 18.5, `χ² = ${chi}, 0.999 quantile with 4 degrees of freedom`);
  });
