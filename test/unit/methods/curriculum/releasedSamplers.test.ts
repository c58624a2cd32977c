/** Samplers against what their papers' released code gives; its numbers are constants here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { adaptiveTarget } from "../../../../server/methods/curriculum/samplers/adaptiveTarget.ts";
import { easyToHard } from "../../../../server/methods/curriculum/samplers/easyToHard.ts";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { slidingLevels } from "../../../../server/methods/curriculum/samplers/slidingLevels.ts";
import { levelReplay } from "../../../../server/methods/curriculum/samplers/levelReplay.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";
import { at, chiSquare, clock, group, outcomesOf, poolOf, sampling } from "./support.ts";

const alike = (actual: ArrayLike<number>, expected: readonly number[], what = ""): void => {
  assert.equal(actual.length, expected.length);
  expected.forEach((p, i) => assert.ok(near(actual[i], p, 1e-9), `${what}: ${[...Array.from(actual)]}`));
};

// ─────────────────────────────────────────────────────────── prioritised level replay

/**
 * `LevelSampler.sample_weights` of level_replay/level_sampler.py in facebookresearch/level-replay at ccecf452, of six
 * levels with these scores (the last is unseen), drawn in this order; the staleness transform is `power` at 1.
 */
const scores = [0.2, 0.9, 0.5, 0.5, 0.1, undefined];
const drawn = [0, 1, 2, 3, 4, 1];
const released = [
  [
    { transform: "rank", temperature: 1, staleness: 0.3 },
    [0.21300597213005973, 0.30656934306569344, 0.1840079628400796, 0.20783012607830126, 0.08858659588586595],
  ],
  [
    { transform: "rank", temperature: 0.1, staleness: 0.1 },
    [0.04545540290864611, 0.8991057910428806, 0.02728795370824765, 0.0190598511808835, 0.009091001159342095],
  ],
  [
    { transform: "power", temperature: 1, staleness: 0.3 },
    [0.2, 0.2863636363636363, 0.2409090909090909, 0.21363636363636362, 0.05909090909090908],
  ],
  [
    { transform: "power", temperature: 0.5, staleness: 0 },
    [0.0296107094301179, 0.5949853599187925, 0.18396370579116905, 0.18396370579116905, 0.007476519068751583],
  ],
  [
    { transform: "softmax", temperature: 0.5, staleness: 0.3 },
    [0.20990719815139947, 0.29823384932337615, 0.21582328839934595, 0.18855056112661867, 0.08748510299925964],
  ],
  [
    { transform: "eps_greedy", temperature: 1, staleness: 0.3 },
    [0.14224598930481283, 0.6764705882352942, 0.08770053475935828, 0.06042780748663101, 0.033155080213903745],
  ],
  [
    { transform: "max", temperature: 1, staleness: 0.3 },
    [0.13636363636363635, 0.7, 0.0818181818181818, 0.05454545454545454, 0.02727272727272727],
  ],
  [
    { transform: "constant", temperature: 1, staleness: 0.3 },
    [0.27636363636363637, 0.14, 0.2218181818181818, 0.19454545454545452, 0.16727272727272727],
  ],
] as const;

test("level_replay: the chances of a replay are the released code's, of every transform", () => {
  for (const [params, expected] of released) {
    const sampler = sampling(levelReplay, params);
    sampler.replay!.take(drawn);
    // Five of six have been seen.
    const all = [...expected.map((p) => (5 / 6) * p), 1 / 6];
    alike(sampler.probabilities(poolOf(scores), clock), all, JSON.stringify(params));
  }
});

test("level_replay: how often a new level comes, by share seen, fixed, or not before enough are seen", () => {
  const pool = poolOf([0.3, 0.1, undefined, undefined]);
  const fresh = (params: Parameters<typeof sampling<typeof levelReplay.params>>[1]): number =>
    sampling(levelReplay, params)
      .probabilities(pool, clock)
      .slice(2)
      .reduce((sum, p) => sum + p, 0);
  assert.ok(near(fresh({}), 0.5));
  assert.ok(near(fresh({ schedule: "fixed", fresh: 0.3 }), 0.3));
  assert.ok(near(fresh({ schedule: "fixed", fresh: 0.3, least_seen: 0.6 }), 1));
  assert.ok(near(fresh({ least_seen: 1 }), 1));
  const known = poolOf([0.3, 0.1]);
  const p = sampling(levelReplay, { schedule: "fixed", least_seen: 1 }).probabilities(known, clock);
  assert.ok(near(p[0]! + p[1]!, 1), "once all are seen there is nothing new");
});

test("level_replay: draws are as often as its probabilities say, and each ages the others", () => {
  const pool = poolOf(scores);
  const counts = Array.from({ length: 8_000 }, (_, i) => {
    const sampler = sampling(levelReplay, { temperature: 1, staleness: 0.3 });
    sampler.replay!.take(drawn);
    return sampler.draw(pool, 1, randomStream("level", i), clock, [])[0]!;
  });
  const sampler = sampling(levelReplay, { temperature: 1, staleness: 0.3 });
  sampler.replay!.take(drawn);
  assert.ok(chiSquare(counts, sampler.probabilities(pool, clock)) < 20.5, "0.999 quantile, 5 degrees");
  const stale = sampling(levelReplay, { staleness: 1 });
  stale.replay!.take([0, 1, 2]);
  alike(stale.probabilities(poolOf([1, 2, 3]), clock), [2 / 3, 1 / 3, 0]);
  const [next] = stale.draw(poolOf([1, 2, 3], { isOpen: (arm) => arm === 0 }), 1, randomStream(1), clock, []);
  assert.equal(next, 0);
  alike(stale.probabilities(poolOf([1, 2, 3]), clock), [0, 2 / 3, 1 / 3]);
});

test("level_replay over prompts: no prompt twice a step, new ones while there are any, then the others", () => {
  const sampler = sampling(levelReplay, {});
  const pool = poolOf([0.5, undefined, 0.2, undefined], { once: true });
  const all = sampler.draw(pool, 9, randomStream("all"), clock, []);
  assert.deepEqual([...all].sort(), [0, 1, 2, 3]);
  const open = poolOf([0.5, undefined, 0.2], { once: true, isOpen: (arm) => arm === 2 });
  assert.deepEqual(sampler.draw(open, 2, randomStream("open"), clock, []), [2]);
});

// ─────────────────────────────────────────────────────────── AdaRFT

/** CurriculumSampler of verl/trainer/ppo/custom_sampler.py, with the update of ray_trainer.py, in uscnlp-lime/verl at bf2dd7e6. */
const difficulties = [3, 50, 20, 80, 10, 65, 35, 95, 0, 41];
const course = [
  { reward: 0.9, target: 0, drawn: [8, 0, 4] },
  { reward: 1, target: 33.20183851339245, drawn: [6, 9, 2] },
  { reward: 0.2, target: 71.2815463111807, drawn: [5, 3, 1] },
  { reward: 0.55, target: 44.429067961278946, drawn: [9, 1, 6] },
  { reward: 0, target: 49.41246769252674, drawn: [1, 9, 6] },
  { reward: 0, target: 11.332759894738494, drawn: [4, 0, 2] },
  { reward: 0.7, target: 0, drawn: [8, 0, 4] },
  { reward: 0, target: 18.99744811276124, drawn: [2, 4, 0] },
];

test("adaptive_target: the target and the batch of each step are the released code's", () => {
  const sampler = sampling(adaptiveTarget, { low: 0, high: 100 });
  const pool = poolOf(difficulties, { once: true });
  for (const { reward, target, drawn: expected } of course) {
    assert.deepEqual(sampler.draw(pool, 3, randomStream(1), clock, []), expected);
    assert.ok(near(100 * Number(sampler.save!().json), target, 1e-9));
    // The mean over all rollouts of the step, whatever their groups.
    const groups = [group([1.5 * reward, reward]), group([0.5 * reward, reward])];
    sampler.learn!(outcomesOf(groups, [0, 1], pool), pool, clock);
  }
});

test("adaptive_target: the range is the arms' own, and success rates fall with difficulty", () => {
  const pool = poolOf([2, 4, 6, undefined], { isOpen: (arm) => arm !== 3 });
  const sampler = sampling(adaptiveTarget, { start: 0.9 });
  alike(sampler.probabilities(pool, clock), [0, 0, 1, 0]);
  const rates = poolOf([0.9, 0.4, 0.1], { once: true });
  const falling = sampling(adaptiveTarget, { order: "descending" });
  assert.deepEqual(falling.draw(rates, 2, randomStream(1), clock, []), [0, 1]);
  falling.learn!(outcomesOf([group([1, 1, 1, 1])], [0], rates), rates, clock);
  assert.deepEqual(falling.draw(rates, 1, randomStream(1), clock, []), [1], "0.9 − 0.8 · tanh(1)/2 = 0.595");
  falling.learn!([], rates, clock);
  assert.deepEqual(falling.draw(rates, 1, randomStream(1), clock, []), [1], "a step without rewards");
});

// ─────────────────────────────────────────────────────────── E2H

/** TaskSampler of src/trainer.py in divelab/E2H-Reasoning at 381e5002, of levels 0 … K − 1. */
const progress = { schedule: "linear", from: 0, to: 1, over: 1600 } as const;
const eased = [
  {
    t: 0,
    cosine: [0.4, 0.3, 0.2, 0.1],
    gaussian: [0.6283221339798817, 0.17150062564233892, 0.10017723233144396, 0.10000000804633541],
    wide: [0.6944380527596206, 0.2854920184853587, 0.019836970740926576, 0.00023295801409424548],
  },
  {
    t: 400,
    cosine: [0.35606601717798214, 0.28535533905932736, 0.21464466094067264, 0.1439339828220179],
    gaussian: [0.10539586298862748, 0.39460413701137254, 0.39460413701137254, 0.10539586298862748],
    wide: [0.00997690428266075, 0.17814897305251143, 0.5376402344023221, 0.2742338882625058],
  },
  {
    t: 1200,
    cosine: [0.1439339828220179, 0.21464466094067264, 0.28535533905932736, 0.35606601717798214],
    gaussian: [0.10000067481489316, 0.1029779427458102, 0.3406966805250256, 0.4563247019142711],
    wide: [0.0006148254450060136, 0.03615879264054317, 0.3594156054135083, 0.6038107765009426],
  },
];

test("easy_to_hard: the chances of the levels are the released code's, at every time", () => {
  const pool = poolOf([7, 1, 3, 5]);
  const of = (levels: readonly number[]): number[] => [levels[3]!, levels[0]!, levels[1]!, levels[2]!];
  for (const { t, cosine, gaussian, wide } of eased) {
    alike(sampling(easyToHard, { shape: "cosine", progress }).probabilities(pool, at(t)), of(cosine));
    alike(sampling(easyToHard, { progress }).probabilities(pool, at(t)), of(gaussian));
    const flat = sampling(easyToHard, { progress, exponent: 0.25, sigma: 0.75, least: 0 });
    alike(flat.probabilities(pool, at(t)), of(wide));
  }
  const half = sampling(easyToHard, { progress: 0.5 }).probabilities(poolOf([2, 1, 0]), clock);
  alike(half, [0.371102501650684, 0.45479325068015497, 0.174104247669161]);
});

test("easy_to_hard: arms of one level share its chance, and with success rates the largest comes first", () => {
  const pool = poolOf([1, 2, 1, 3, 4, 1]);
  const p = sampling(easyToHard, { shape: "cosine" }).probabilities(pool, at(0));
  alike(p, [0.4 / 3, 0.3, 0.4 / 3, 0.2, 0.1, 0.4 / 3]);
  const rates = sampling(easyToHard, { shape: "cosine", order: "descending" });
  alike(rates.probabilities(poolOf([0.1, 0.9, 0.5, 0.7]), at(0)), [0.1, 0.4, 0.2, 0.3]);
});

// ─────────────────────────────────────────────────────────── RLVE

/**
 * `RLVEManager.update` of slime/ray/rollout_data_source.py in Zhiyuan-Zeng/RLVE at 73cccd97: of each step the groups of four,
 * by environment, level and how many are right, and the hardest levels after it.
 */
const climbed = [
  {
    groups: [
      ["a", 0, 4],
      ["b", 0, 1],
    ],
    a: 0,
    b: 0,
  },
  {
    groups: [
      ["a", 0, 3],
      ["b", 0, 2],
    ],
    a: 1,
    b: 0,
  },
  {
    groups: [
      ["a", 1, 3],
      ["a", 0, 0],
      ["b", 0, 4],
    ],
    a: 1,
    b: 0,
  },
  {
    groups: [
      ["a", 1, 2],
      ["b", 0, 4],
    ],
    a: 1,
    b: 1,
  },
  {
    groups: [
      ["a", 1, 4],
      ["a", 1, 4],
      ["b", 1, 4],
    ],
    a: 2,
    b: 1,
  },
  {
    groups: [
      ["a", 2, 4],
      ["a", 1, 0],
      ["b", 1, 2],
      ["b", 0, 0],
    ],
    a: 2,
    b: 2,
  },
] as const;

test("sliding_levels: the hardest level of each environment moves as the released code's", () => {
  const names = ["a/1", "b/5", "a/2", "b/6", "a/3", "b/7", "a/4", "b/8"];
  const pool = poolOf([1, 5, 2, 6, 3, 7, 4, 8], { arms: new NamedArms(names) });
  const armOf = (environment: string, level: number): number =>
    names.filter((name) => name.startsWith(environment)).map((name) => names.indexOf(name))[level]!;
  let sampler = sampling(slidingLevels, { window: 2, above: 0.75, groups: 2 });
  for (const { groups, a, b } of climbed) {
    const played = groups.map(([, , right]) => group([0, 1, 2, 3].map((i) => Number(i < right))));
    const arms = groups.map(([environment, level]) => armOf(environment, level));
    sampler.learn!(outcomesOf(played, arms, pool), pool, clock);
    const saved = sampler.save!();
    sampler = sampling(slidingLevels, { window: 2, above: 0.75, groups: 2 });
    sampler.load!(saved);
    const expected = new Float64Array(names.length);
    for (const [environment, top] of [
      ["a", a],
      ["b", b],
    ] as const) {
      const open = [top - 1, top].filter((level) => level >= 0);
      for (const level of open) expected[armOf(environment, level)] = 0.5 / open.length;
    }
    alike(sampler.probabilities(pool, clock), [...expected]);
  }
});

test("sliding_levels: after the last level there is no other", () => {
  const sampler = sampling(slidingLevels, { groups: 1, start: 1 });
  const pool = poolOf([1, 2], { arms: new NamedArms(["a/1", "a/2"]) });
  for (let i = 0; i < 3; i++) sampler.learn!(outcomesOf([group([1])], [1], pool), pool, clock);
  alike(sampler.probabilities(pool, clock), [0.5, 0.5]);
});
