/** What the presets of curricula come to, from the config to the probabilities, against the papers' formulas. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { openSources } from "../../../../server/algorithm/curriculum/openSources.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { configOf, near } from "../../support.ts";
import { at, clock, group } from "./support.ts";

function curriculumOf(preset: string, more = "", stage?: number): Curriculum {
  const config = configOf(
    `extends: ${preset}\ntasks: [{ env: countdown, numbers: [3] }, { env: arithmetic, digits: [2] }]\nreward: { terms: { right: { use: format, tags: [a] } } }\n${more}`,
  );
  const body = stage === undefined ? config.top : config.stages[stage]!.body;
  const context = contextOf(body, { random: randomStream(1, "curriculum") });
  return new Curriculum(body.curriculum, openSources(body.tasks, context), context);
}
const small = "curriculum: { arms: { use: prompt, pool: 10 } }";

/** A group of eight of which so many succeed, with advantages by the group's standard deviation. */
const eight = (arm: string, right: number): ReturnType<typeof group> => {
  const rewards = Array.from({ length: 8 }, (_, i) => Number(i < right));
  const [p, std] = [right / 8, Math.sqrt((right / 8) * (1 - right / 8))];
  return group(rewards, {
    arm,
    advantages: Float64Array.from(rewards, (r) => (std === 0 ? 0 : (r - p) / std)),
  });
};

test("SEC: the signal of binary rewards is 2√(p(1 − p)), its estimate half of it, the softmax at 0.4", () => {
  const curriculum = curriculumOf("sec");
  for (let right = 0; right <= 8; right++) {
    const [signal] = curriculumOf("sec").observe([eight("countdown/3", right)], [], clock);
    assert.ok(near(signal, 2 * Math.sqrt((right / 8) * (1 - right / 8))));
  }
  curriculum.observe([eight("countdown/3", 4)], [], clock);
  assert.ok(near(curriculum.estimate(0), 0.5));
  assert.ok(near(curriculum.probabilities(clock)[0], 1 / (1 + Math.exp(-0.5 / 0.4))));
});

test("DUMP: the mean of the last 300 absolute advantages, and the bonus of all rollouts ever", () => {
  const curriculum = curriculumOf("dump");
  for (let step = 0; step < 50; step++)
    curriculum.observe([eight("countdown", step < 12 ? 0 : 4), eight("arithmetic", 2)], [], at(step));
  // 300 rollouts are 37 groups and the last four of another, which all failed.
  const wrong = Math.sqrt(0.25 / 0.75);
  const [first, second] = [1, (37 * 8 * 2 * Math.sqrt(0.25 * 0.75) + 4 * wrong) / 300];
  const bound = Math.sqrt((2 * Math.log(801)) / 401);
  const odds = Math.exp((first + bound - (second + bound)) / 0.1);
  const p = curriculum.probabilities(at(50));
  assert.ok(near(p[0]! / p[1]!, odds, 1e-9), "the twelve groups without advantages are out of the window");
});

test("CurES: a softmax over √(p̂(1 − p̂))/T of Beta(1, 1) posteriors, and rollouts by the same", async () => {
  const curriculum = curriculumOf("cures", small);
  const name = (arm: number): string => curriculum.arms.name(arm);
  curriculum.observe([eight(name(0), 8), eight(name(1), 2)], [], clock);
  const score = (successes: number): number => {
    const p = (successes + 1) / 10;
    return Math.sqrt(p * (1 - p));
  };
  const p = curriculum.probabilities(clock);
  assert.ok(near(p[1]! / p[0]!, Math.exp((score(2) - score(8)) / 0.1), 1e-9));
  assert.ok(near(p[2]! / p[0]!, Math.exp((0.5 - score(8)) / 0.1), 1e-9), "unseen: p̂ = ½");
  const drawn = await curriculum.draw(20, randomStream(3), clock);
  assert.equal(
    drawn.reduce((sum, { rollouts }) => sum + rollouts!, 0),
    20 * 8,
  );
  const given = (arm: number): number => drawn.find((one) => one.arm === name(arm))!.rollouts!;
  assert.ok(given(0) < given(1) && given(1) <= given(2));
});

test("MoPPS: α ← α/2 + ½ + successes; VLA-RL: odds exp((s_b − s_a)/τ)", () => {
  const mopps = curriculumOf("mopps", small);
  mopps.observe([eight(mopps.arms.name(0), 6)], [], clock);
  mopps.observe([eight(mopps.arms.name(0), 2)], [], at(1));
  const [a, b] = [7 / 2 + 0.5 + 2, 3 / 2 + 0.5 + 6];
  assert.ok(near(mopps.estimate(0), a / (a + b)));
  const vla = curriculumOf("vla-rl", "curriculum: { estimator: last }");
  vla.observe([eight("countdown/3", 2), eight("arithmetic/2", 6)], [], clock);
  const p = vla.probabilities(clock);
  assert.ok(near(p[0]! / p[1]!, Math.exp((0.75 - 0.25) / 0.5), 1e-9));
});

test("Kimi k1.5: the second phase draws prompts in proportion to 1 − s; eva: to the reward's range", () => {
  const kimi = curriculumOf("kimi-k1.5-sampling", small, 1);
  for (let step = 0; step < 60; step++)
    kimi.observe([eight(kimi.arms.name(0), 6), eight(kimi.arms.name(1), 2)], [], at(step));
  const p = kimi.probabilities(at(60));
  assert.ok(near(p[1]! / p[0]!, 3, 1e-6));
  const eva = curriculumOf("eva-sampling", "curriculum: { arms: { use: prompt, pool: 2 } }");
  eva.observe(
    [...Array(eva.arms.size).keys()].map((arm) => eight(eva.arms.name(arm), arm === 0 ? 0 : 3)),
    [],
    clock,
  );
  assert.ok(
    near(eva.probabilities(clock)[0], 0.1 / eva.arms.size),
    "nothing to choose between: the floor alone",
  );
});

test("DRIVE: the hard stage keeps the 72 prompts of least success, then 50 and 25, and has 64 rollouts of each", () => {
  const config = configOf(
    "extends: drive\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n",
  );
  assert.deepEqual(
    config.stages.map(({ body }) => body.rollout.group),
    [8, 64],
  );
  const hard = curriculumOf("drive", "", 1);
  const groups = Array.from({ length: 100 }, (_, arm) => eight(hard.arms.name(arm), arm % 8));
  const after: number[][] = [];
  for (let step = 0; step < 24 + 64 + 32; step++) {
    // Each phase has tried all that are left.
    hard.observe([0, 24, 88].includes(step) ? groups : [], [], at(step));
    const p = hard.probabilities(at(step + 1));
    if ([23, 87, 119].includes(step)) after.push([...p.keys()].filter((arm) => p[arm]! > 0));
  }
  assert.deepEqual(
    after.map((left) => left.length),
    [72, 50, 25],
  );
  // Rates of 0 to ⅜ have 13 prompts each, higher ones 12.
  assert.deepEqual(
    after.map((left) => Math.max(...left.map((arm) => arm % 8))),
    [5, 3, 1],
  );
});

test("LILO: of four times as many prompts those of largest p̂(1 − p̂) train", async () => {
  const curriculum = curriculumOf("lilo", small);
  assert.equal(curriculum.asks(2, clock), 8);
  const drawn = await curriculum.draw(8, randomStream(1), clock);
  const right = [8, 7, 0, 5, 1, 4, 2, 8];
  const groups = drawn.map(({ arm }, i) => eight(arm, right[i]!));
  const learnability = right.map((k) => (k / 8) * (1 - k / 8));
  const [first, second] = [...learnability.keys()].sort((a, b) => learnability[b]! - learnability[a]!);
  const trained = curriculum.verdicts(groups, 2).flatMap(({ admitted }, i) => (admitted ? [i] : []));
  assert.deepEqual(trained, [first!, second!].sort());
});

test("VCRL: the band of success rates is a bound on the variance's share of the largest", () => {
  const curriculum = curriculumOf("vcrl", small);
  for (let right = 0; right <= 8; right++) {
    const variance = (right * (8 - right)) / (8 * 7);
    const largest = 8 / (4 * 7);
    const { admitted } = curriculum.admit(eight("any", right));
    assert.equal(admitted, variance / largest >= 0.75, `${right} of 8`);
  }
});

test("level replay without gradients on new prompts: the first step trains nothing, replayed ones do", async () => {
  const curriculum = curriculumOf("level-replay-robust", small);
  const name = (arm: number): string => curriculum.arms.name(arm);
  const groups = [eight(name(0), 4), eight(name(1), 8)];
  assert.ok(curriculum.verdicts(groups, 2).every(({ admitted }) => !admitted));
  curriculum.observe(groups, curriculum.verdicts(groups, 2), clock);
  const p = curriculum.probabilities(at(1));
  assert.ok(near(p[0]! + p[1]!, 0.5), "half of the draws replay");
  const others = [...p].slice(2);
  assert.ok(others.every((one) => near(one, 0.5 / others.length)));
  assert.ok(curriculum.verdicts(groups, 2).every(({ admitted }) => admitted));
});
