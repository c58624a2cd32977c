/** Beside something that can be learned, what always fails or always succeeds gets its floor: for each sampler, as presets use it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { methods } from "../../../server/methods.ts";
import { simulate } from "../../../server/simulate/simulate.ts";
import { configOf } from "../support.ts";

interface Bounds {
  /** Share by the method's own formula of an arm that always fails, beside one that half succeeds. */
  readonly fails: number;
  readonly succeeds: number;
  readonly more?: string;
}

const levels = "curriculum: { arms: difficulty }\n";
/** With two arms an even share of the draws is ½. */
const presets: Readonly<Record<string, Bounds>> = {
  // exp(0) beside exp(q/τ), q ≈ 0.95 the mean absolute advantage of the other, τ 0.5.
  sec: { fails: 0.13, succeeds: 0.13 },
  "sec-released": { fails: 0.13, succeeds: 0.13 },
  // τ 0.1: e^−10, and the bonus falls with what was seen.
  dump: { fails: 0.01, succeeds: 0.01 },
  // p(1 − p) is 0 beside ¼.
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
  // Evens out what was drawn: that is its formula.
  "self-repellent": { fails: 0.5, succeeds: 0.5 },
  // What is mastered is reviewed with a tenth; what is not is on the frontier, whether it can be learned or not.
  "verified-prerequisites": { fails: 0.5, succeeds: 0.1 },
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

/** Of the last ten of fifty steps; nothing is learned, so that the one arm succeeds with ½ throughout. */
async function shareOf(preset: string, more: string, ceiling: number): Promise<number> {
  const text = `extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n${more}`;
  const { stages } = configOf(text, undefined, true);
  const { body } = stages.at(-1)!;
  const world = {
    difficulty: [0, ceiling === 0 ? 0 : -40],
    ceiling: [1, ceiling],
    transfer: [
      [1, 0],
      [0, 1],
    ],
    ...{ forgetting: 0, rate: 0 },
  };
  const small = { ...body, rollout: { ...body.rollout, prompts: 32, group: 8 } };
  const steps = await simulate(small, { name: preset, summary: "", world: () => world }, 1, 50);
  return steps.slice(-10).reduce((sum, { mix }) => sum + mix[1]! / 10, 0);
}

/** Four standard deviations of a share of 320 draws. */
const noise = (p: number): number => 4 * Math.sqrt((p * (1 - p)) / 320);

for (const [preset, { fails, succeeds, more = "" }] of Object.entries({ ...presets, ...hardestFirst }))
  test(`${preset}: what always fails, and what always succeeds, has the share of the formula at most`, async () => {
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

test("curricula that draw what fails most are said to, with what guards against it", () => {
  const text = readFileSync("docs/curriculum.md", "utf8");
  const [, section = ""] = text.split("## What always fails\n");
  for (const name of [...Object.keys(hardestFirst), "verified-prerequisites", "drive", "self"])
    assert.ok(section.includes(`\`${name}\``), name);
});

test("every sampler that weighs arms by what was seen of them is held to this by a preset", () => {
  const used = new Set(
    Object.entries({ ...presets, ...hardestFirst }).map(
      ([preset, { more = "" }]) =>
        configOf(
          `extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n${more}`,
          undefined,
          true,
        ).stages.at(-1)!.body.curriculum.sampler.declaration.name,
    ),
  );
  const left = methods
    .filter(({ slot, name }) => slot === "sampler" && !used.has(name))
    .map(({ name }) => name);
  assert.deepEqual(
    left.sort(),
    // One arm after the other, or the single best one, or a fixed mixture: they have no share to bound.
    ["expected_improvement", "gaussian_window", "greedy", "mixture", "nearest", "sorted", "uniform"],
  );
});
