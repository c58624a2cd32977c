/** Curricula compared with released code written out here: TSCL's online teacher, and tiers in which unseen prompts have a quota. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../server/algorithm/curriculum/curriculum.ts";
import { openSources } from "../../../server/algorithm/curriculum/openSources.ts";
import { randomStream, type Random } from "../../../server/lib/random.ts";
import { at, group } from "../methods/curriculum/support.ts";
import { configOf, near } from "../support.ts";

function curriculumOf(preset: string, more = ""): Curriculum {
  const { top } = configOf(
    `extends: ${preset}\ntasks: [{ env: countdown, numbers: [3, 4, 5] }]\nreward: { terms: { right: { use: format, tags: [a] } } }\n${more}`,
  );
  const context = contextOf(top, { random: randomStream(1, "curriculum") });
  return new Curriculum(top.curriculum, openSources(top.tasks, context), context);
}
const arms = ["countdown/3", "countdown/4", "countdown/5"];

/** Rewards of so many groups of eight, each rollout right with chance p. */
const rewardsOf = (random: Random, groups: number, p: number): number[][] =>
  Array.from({ length: groups }, () => Array.from({ length: 8 }, () => Number(random.next() < p)));
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** `s = r - prevr; Q += lr (s - Q); prevr = r` and a Boltzmann policy over |Q|, r being a task's mean of the step. */
class OnlineTeacher {
  private readonly q = [0, 0, 0];
  private readonly previous = [0, 0, 0];

  step(scores: readonly (number | undefined)[]): void {
    scores.forEach((score, arm) => {
      if (score === undefined) return;
      this.q[arm]! += 0.1 * (score - this.previous[arm]! - this.q[arm]!);
      this.previous[arm] = score;
    });
  }
  policy(): number[] {
    const sizes = this.q.map(Math.abs);
    const weights = sizes.map((size) => Math.exp((size - Math.max(...sizes)) / 0.0004));
    return weights.map((weight) => weight / weights.reduce((a, b) => a + b, 0));
  }
}

test("TSCL: the online teacher over 60 steps, with several groups of a task in a step, or none", () => {
  const [curriculum, teacher] = [curriculumOf("tscl"), new OnlineTeacher()];
  for (let step = 0; step < 60; step++) {
    const random = randomStream(7, "tscl", step);
    const drawn = arms.map((_, arm) => rewardsOf(random, (step + arm) % 3, [0.5, step / 60, 0.1][arm]!));
    const groups = drawn.flatMap((own, arm) => own.map((rewards) => group(rewards, { arm: arms[arm]! })));
    // Groups of a step come in any order.
    curriculum.observe(step % 2 === 0 ? groups : groups.toReversed(), [], at(step));
    teacher.step(drawn.map((own) => (own.length === 0 ? undefined : mean(own.flat()))));
    const wanted = teacher.policy();
    curriculum
      .probabilities(at(step + 1))
      .forEach((p, arm) => assert.ok(near(p, wanted[arm]!, 1e-9), `step ${step}, ${arms[arm]}`));
  }
});

test("learning progress: an arm that does not move does not beat one that learns, with eight groups a step", () => {
  const more =
    "curriculum: { arms: difficulty, signal: learning_progress, estimator: { use: ema, alpha: 0.1 } }\n";
  for (const seed of [1, 2, 3, 4, 5]) {
    const curriculum = curriculumOf("grpo", more);
    const [still, learning]: [number[], number[]] = [[], []];
    for (let step = 0; step < 60; step++) {
      const random = randomStream(seed, "progress", step);
      const groups = [0.5, 0.05 + (0.9 * step) / 59].flatMap((p, arm) =>
        rewardsOf(random, 8, p).map((rewards) => group(rewards, { arm: arms[arm]! })),
      );
      curriculum.observe(groups, [], at(step));
      if (step < 20) continue;
      still.push(Math.abs(curriculum.estimate(0)));
      learning.push(Math.abs(curriculum.estimate(1)));
    }
    assert.ok(mean(learning) > 1.5 * mean(still), `seed ${seed}: ${mean(learning)} and ${mean(still)}`);
  }
});

test("learning progress: what is remembered of a step survives a checkpoint between two steps", () => {
  const [one, other] = [curriculumOf("tscl"), curriculumOf("tscl")];
  const step = (curriculum: Curriculum, n: number): Float64Array =>
    curriculum.observe(
      arms.flatMap((arm, i) =>
        rewardsOf(randomStream(n, i), 2, 0.4).map((rewards) => group(rewards, { arm })),
      ),
      [],
      at(n),
    );
  step(one, 0);
  other.load(one.save());
  assert.deepEqual(step(other, 1), step(one, 1));
  assert.deepEqual(other.probabilities(at(2)), one.probabilities(at(2)));
});

test("RLCS: unseen prompts have the quota 2, next to 1, 4 and 1 for those that fail, are between, and succeed", () => {
  const curriculum = curriculumOf("rlcs", "curriculum: { arms: { use: prompt, pool: 10 } }\n");
  const rates = [0, 0, 0.5, 1, 1, 1];
  rates.forEach((rate, arm) => {
    const rewards = Array.from({ length: 8 }, (_, i) => Number(i < 8 * rate));
    curriculum.observe([group(rewards, { arm: curriculum.arms.name(arm) })], [], at(arm));
  });
  const p = curriculum.probabilities(at(6));
  const each = [1 / 2, 1 / 2, 4, 1 / 3, 1 / 3, 1 / 3, 2 / 4, 2 / 4, 2 / 4, 2 / 4];
  each.forEach((quota, arm) => assert.ok(near(p[arm], quota / 8, 1e-12), `prompt ${arm}: ${p[arm]}`));
});
