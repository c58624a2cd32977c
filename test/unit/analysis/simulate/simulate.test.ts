import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, uniformly } from "../../../../server/analysis/simulate/compare.ts";
import { logistic } from "../../../../server/methods/curriculum/numbers.ts";
import { Learner, type World } from "../../../../server/analysis/simulate/learner.ts";
import { scenarios } from "../../../../server/analysis/simulate/scenarios.ts";
import { simulate } from "../../../../server/analysis/simulate/simulate.ts";
import { signFlipTest, standardError } from "../../../../server/analysis/simulate/statistics.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { configOf, near } from "../../support.ts";
import { inLong } from "../../../support/thorough.ts";

const bodyOf = (text: string): ReturnType<typeof configOf>["top"] =>
  configOf(`${text}tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n`).top;
const named = (name: string): (typeof scenarios)[number] => scenarios.find((one) => one.name === name)!;

test("a learner gains what its lessons teach, at the levels they carry over to, and forgets the rest", () => {
  const world: World = {
    difficulty: [0, 1],
    ceiling: [1, 0.5],
    transfer: [
      [1, 0.5],
      [0, 1],
    ],
    forgetting: 0.1,
    rate: 2,
  };
  const learner = new Learner(world);
  assert.deepEqual([learner.success(0), learner.success(1)], [0.5, 0.5 * logistic(-1)]);
  learner.update([{ level: 0, gain: 0.5 }]);
  assert.deepEqual([...learner.ability], [1, 0.5]);
  learner.update([{ level: 0, gain: 0 }]);
  assert.deepEqual([...learner.ability], [1, 0.45], "only what was not trained fades");
  learner.update([]);
  assert.deepEqual([...learner.ability], [1, 0.45]);
});

test("groups that are all alike teach nothing, whatever the advantage", async () => {
  const steps = await simulate(
    bodyOf("extends: grpo\n"),
    {
      name: "impossible",
      summary: "",
      world: () => ({ difficulty: [20], ceiling: [1], transfer: [[1]], forgetting: 0, rate: 1 }),
    },
    1,
    5,
  );
  assert.ok(steps.every(({ score }) => score === steps[0]!.score));
  assert.deepEqual(
    steps.map(({ rollouts }) => rollouts),
    [1, 2, 3, 4, 5].map((step) => step * 16 * 8),
  );
});

test("a simulation is a function of its seed", async () => {
  const body = bodyOf("extends: sec\n");
  const [first, again, other] = await Promise.all(
    [1, 1, 2].map((seed) => simulate(body, named("rugged"), seed, 10)),
  );
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, other);
});

inLong("SEC beats uniform sampling (20 seeds, p < 0.05)", async () => {
  const body = bodyOf("extends: sec\nrollout: { prompts: 16, group: 8 }\n");
  const { equal, p, efficiency } = await compare(body, named("ladder"), { seeds: 20, steps: 50, seed: 1 });
  assert.ok(p.equal < 0.05 && equal.own.mean > equal.uniform.mean, JSON.stringify(p));
  assert.ok(efficiency !== null && efficiency > 1);
});

inLong("balanced filtering learns more in as many steps than uniform sampling (20 seeds)", async () => {
  const body = bodyOf("extends: balanced-filtering\nrollout: { prompts: 16, group: 8 }\n");
  const { final, p } = await compare(body, named("ladder"), { seeds: 20, steps: 30, seed: 1 });
  assert.ok(p.final < 0.05);
  const { own, uniform } = final;
  assert.ok(
    own.mean - uniform.mean > 4 * Math.hypot(own.error ?? 1, uniform.error ?? 1),
    JSON.stringify(final),
  );
});

test("compared with itself a curriculum is no better", async () => {
  const body = uniformly(bodyOf("extends: grpo\n"));
  const { p, efficiency } = await compare(body, named("ladder"), { seeds: 5, steps: 10, seed: 1 });
  assert.deepEqual({ p, efficiency }, { p: { final: 1, equal: 1 }, efficiency: 1 });
});

test("standard error and the sign-flip test", () => {
  assert.ok(near(standardError([1, 2, 3, 4]), Math.sqrt(5 / 3 / 4)));
  assert.equal(signFlipTest([0, 0, 0], randomStream(1)), 1);
  // All of 12 the same sign and size: 2 of the 2¹² flips are as far from 0.
  const p = signFlipTest(new Array<number>(12).fill(1), randomStream(1), 100_000);
  assert.ok(Math.abs(p - 2 / 4096) < 3e-4, String(p));
});

test("the learners of a seed are others than those of the next one, and both sides of a pair have the same world", async () => {
  const worlds = async (seed: number): Promise<number[]> => {
    const drawn: number[] = [];
    const scenario = {
      ...named("ladder"),
      world: (random: Parameters<(typeof scenarios)[number]["world"]>[0]): World => {
        drawn.push(random.next());
        return named("ladder").world(random);
      },
    };
    await compare(bodyOf("extends: sec\nrollout: { prompts: 4 }\n"), scenario, { seeds: 4, steps: 2, seed });
    return drawn;
  };
  const [first, second] = [await worlds(1), await worlds(2)];
  for (const drawn of [first, second])
    assert.deepEqual(
      drawn.filter((_, i) => i % 2 === 0),
      drawn.filter((_, i) => i % 2 === 1),
    );
  assert.equal(new Set([...first, ...second]).size, 8, "of four and four learners none is in both");
});
