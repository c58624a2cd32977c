/** Beside something that can be learned, what always fails or always succeeds gets its floor: for each sampler, as presets use it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../../server/rules/load.ts";
import { listPresets } from "../../../../server/config/presets.ts";
import { methods } from "../../../../server/methods/index.ts";
import { simulate } from "../../../../server/analysis/simulate/simulate.ts";
import { configOf } from "../../support.ts";
import { inLong, some } from "../../../support/thorough.ts";

interface Bounds {
  /** Share by the method's own formula of an arm that always fails, next to one that half succeeds. */
  readonly fails: number;
  readonly succeeds: number;
  readonly more?: string;
}

const levels = "curriculum: { arms: difficulty }\n";
/** With two arms an even share of the draws is ½. */
const presets: Readonly<Record<string, Bounds>> = {
  // exp(0) next to exp(q/τ), q ≈ 0.95 the mean absolute advantage of the other, τ 0.5.
  sec: { fails: 0.13, succeeds: 0.13 },
  "sec-released": { fails: 0.13, succeeds: 0.13 },
  // τ 0.1: e^−10, and the bonus falls with what was seen.
  dump: { fails: 0.01, succeeds: 0.01 },
  // p(1 − p) is 0 next to ¼.
  cures: { fails: 0.01, succeeds: 0.01, more: levels },
  // No floor: the posterior of the other lies at the target.
  mopps: { fails: 0.01, succeeds: 0.01, more: levels },
  "mopps-threshold": { fails: 0.01, succeeds: 0.01, more: levels },
  "pooled-prior": { fails: 0.01, succeeds: 0.01, more: levels },
  "restarted-posterior": { fails: 0.01, succeeds: 0.01 },
  // Half of the floor of 0.1.
  "eva-sampling": { fails: 0.05, succeeds: 0.05, more: levels },
  // Quotas of 1 and 4.
  rlcs: { fails: 0.2, succeeds: 0.2, more: levels },
  // A fifth of the points is drawn anywhere; the components are not of one level alone.
  "alp-gmm": { fails: 0.15, succeeds: 0.15 },
  again: { fails: 0.15, succeeds: 0.15 },
  // What half succeeds keeps the target where it is. A hardest level that is solved is where the target ends.
  adarft: { fails: 0.05, succeeds: 1 },
  // By time alone: of two levels 1/3 + N/3 for the second, which is 0.56 at 45 % of the way.
  e2h: { fails: 0.56, succeeds: 0.56 },
  // The first level is never mastered.
  rlve: { fails: 0, succeeds: 0 },
  // At most the tenth that goes by age, next to 1/2^10.
  "level-replay": { fails: 0.1, succeeds: 0.1, more: levels },
  // Evens out what was drawn: that is its formula.
  "self-repellent": { fails: 0.5, succeeds: 0.5 },
  // What is mastered is reviewed with a tenth; what is not is on the frontier, whether it can be learned or not.
  "verified-prerequisites": { fails: 0.5, succeeds: 0.1 },
};

const parts = (arms: string, signal: string, estimator: string, sampler: string): string =>
  `curriculum: { arms: ${arms}, signal: ${signal}, estimator: ${estimator}, sampler: ${sampler} }\n`;

/** Samplers without a preset of this form, by their name. */
const alone: Readonly<Record<string, Bounds>> = {
  // Of 128 candidates about 64 are nearer.
  nearest: { fails: 0, succeeds: 0, more: parts("difficulty", "success_rate", "ema", "nearest") },
  // The best arm alone, and variance is 0 at both ends.
  greedy: { fails: 0, succeeds: 0, more: parts("difficulty", "variance", "ema", "greedy") },
  // Variance is 0 at both ends, so that each has half of ε alone.
  epsilon_greedy: {
    fails: 0.05,
    succeeds: 0.05,
    more: parts("difficulty", "variance", "ema", "epsilon_greedy"),
  },
  expected_improvement: {
    ...{ fails: 0, succeeds: 0 },
    more: parts("difficulty", "variance", "beta", "expected_improvement"),
  },
  // Each arm once a pass.
  sorted: { fails: 0.5, succeeds: 0.5, more: parts("difficulty", "success_rate", "ema", "sorted") },
  // e^−2 next to 1, a rank of two widths away: the window waits where half succeeds, or a little beyond it by luck.
  gaussian_window: {
    ...{ fails: 0.15, succeeds: 0.12 },
    more: parts("difficulty", "success_rate", "ema", "{ use: gaussian_window, width: 0.5, step: 0.5 }"),
  },
  // No pilot run gets better by what fails or is solved already.
  mixture: { fails: 0.1, succeeds: 0.1, more: parts("task", "success_rate", "surrogate", "mixture") },
  uniform: { fails: 0.5, succeeds: 0.5, more: levels },
};

/** By their published formulas they draw what fails most: 1/(1 + exp(−½/τ)), and floor/2 + 0.9 · 1/1.5. */
const hardestFirst: Readonly<Record<string, Bounds>> = {
  "vla-rl": { fails: 0.73, succeeds: 0.27 },
  "kimi-k1.5-sampling": {
    fails: 0.65,
    succeeds: 0.05,
    more: "stages: { prioritised: { curriculum: { arms: difficulty } } }\n",
  },
};

const textOf = (preset: string, more: string): string =>
  `extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n${more}`;

/** Of the last ten of fifty steps; nothing is learned, so that the one arm succeeds with ½ throughout. */
async function shareOf(preset: string, more: string, ceiling: number, seed = 1): Promise<number> {
  const { stages } = configOf(textOf(preset, more), undefined, true);
  const { body } = stages.at(-1)!;
  // The best mixture is one by which something is learned.
  const rate = body.curriculum.sampler.declaration.name === "mixture" ? 0.02 : 0;
  const world = {
    difficulty: [0, ceiling === 0 ? 0 : -40],
    ceiling: [1, ceiling],
    transfer: [
      [1, 0],
      [0, 1],
    ],
    ...{ forgetting: 0, rate },
  };
  const small = { ...body, rollout: { ...body.rollout, prompts: 32, group: 8 } };
  const steps = await simulate(small, { name: preset, summary: "", world: () => world }, seed, 50);
  return steps.slice(-10).reduce((sum, { mix }) => sum + mix[1]! / 10, 0);
}

/** Four standard deviations of a share of 320 draws. */
const noise = (p: number): number => 4 * Math.sqrt((p * (1 - p)) / 320);

const all: readonly (readonly [what: string, preset: string, bounds: Bounds])[] = [
  ...Object.entries({ ...presets, ...hardestFirst }).map(([id, bounds]) => [id, id, bounds] as const),
  ...Object.entries(alone).map(([name, bounds]) => [`sampler ${name}`, "grpo", bounds] as const),
];
for (const [what, preset, { fails, succeeds, more = "" }] of some(all, 4))
  test(`${what}: what always fails, and what always succeeds, has the share of the formula at most`, async () => {
    for (const [bound, ceiling] of [
      [fails, 0],
      [succeeds, 1],
    ] as const) {
      const share = await shareOf(preset, more, ceiling);
      assert.ok(
        share <= bound + noise(bound),
        `${ceiling === 0 ? "fails" : "succeeds"}: ${share} of ${bound}`,
      );
    }
  });

// Left to itself, the model of these seeds puts the level that it does not draw beyond 0 or 1, and never looks at it again.
inLong("pcl: the value model does not draw one level alone for ever", async () => {
  for (const seed of [4, 5])
    for (const ceiling of [0, 1]) {
      const share = await shareOf("pcl", "", ceiling, seed);
      assert.ok(share <= 0.5, `seed ${seed}, ceiling ${ceiling}: ${share}`);
    }
});

const isTold = (preset: string, more: string): boolean =>
  loadConfig(resolve("any.gradus.yaml"), { text: textOf(preset, more) }).diagnostics.some(
    ({ rule }) => rule === "failing-tasks",
  );

test("curricula that seek what always fails are reported, and on the page with what guards against it", () => {
  const text = readFileSync("docs/curriculum.md", "utf8");
  const [, section = ""] = text.split("## Why does my curriculum draw tasks that always fail?\n");
  const seeking = [...Object.keys(hardestFirst), "verified-prerequisites", "drive", "self", "gain-rl"];
  for (const name of seeking) assert.ok(section.includes(`\`${name}\``), name);
  assert.deepEqual(
    listPresets()
      .map(({ id }) => id)
      .filter((id) => isTold(id, "")),
    seeking.sort(),
  );
});

const signals = [
  ...["failure_ratio", "success_rate", "variance", "mean_abs_advantage", "reward", "reward_range", "regret"],
  ...["never_learned", "{ use: target_distance, target: 0.1 }"],
];
const samplers = [
  ...["{ use: boltzmann, temperature: 0.3 }", "{ use: proportional, floor: 0 }"],
  ...["{ use: proportional, floor: 0.5 }", "greedy", "ucb_softmax", "tiers", "sorted", "uniform"],
  ...["{ use: nearest, target: 0.1 }", "{ use: nearest, target: 0.5 }", "{ use: band, low: 0, high: 0.2 }"],
];
for (const sampler of samplers)
  test(`${sampler}: the finding tells where a simulation draws what always fails most`, async () => {
    for (const signal of some(signals, 1)) {
      // Without a number for arms that were never drawn each of them is tried.
      const more = parts("difficulty", signal, "{ use: ema, initial: null }", sampler);
      const share = await shareOf("grpo", more, 0);
      const told = isTold("grpo", more);
      if (Math.abs(share - 0.6) > noise(0.6)) assert.equal(told, share > 0.6, `${signal}: ${share}`);
    }
  });

test("every sampler that weighs arms by what was seen of them is held to this", () => {
  const used = new Set(
    all.map(
      ([, preset, { more = "" }]) =>
        configOf(textOf(preset, more), undefined, true).stages.at(-1)!.body.curriculum.sampler.declaration
          .name,
    ),
  );
  assert.deepEqual(
    methods.filter(({ slot, name }) => slot === "sampler" && !used.has(name)).map(({ name }) => name),
    [],
  );
});
