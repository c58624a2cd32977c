/** Samplers that only give probabilities: what is drawn for them, with arms that repeat and with arms that do not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lifted } from "../../../../server/methods/curriculum/fast/lifted.ts";
import { epsilonGreedy } from "../../../../server/methods/curriculum/samplers/epsilonGreedy.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";
import { at, chiSquare, clock, curriculumOf, group, poolOf, sampling } from "./support.ts";

test("epsilon_greedy: ε of the draws are spread over all open arms, the rest go to the best one alone", () => {
  const sampler = sampling(epsilonGreedy, { epsilon: 0.2 });
  const pool = poolOf([0.5, 0.9, 0.9, 0.1], { isOpen: (arm) => arm !== 3 });
  const p = sampler.probabilities(pool, clock);
  [0.2 / 3, 0.8 + 0.2 / 3, 0.2 / 3, 0].forEach((share, arm) => assert.ok(near(p[arm], share), `${arm}`));
  const drawn = sampler.draw(pool, 100_000, randomStream("ε"), clock, []);
  assert.ok(chiSquare(drawn, p) < 13.8, "0.999 quantile with 2 degrees of freedom");
  assert.ok(near(sampler.probabilities(poolOf([0.5, undefined]), clock)[1], 0.9), "unknown arms come first");
});

test("epsilon_greedy over prompts: each draw is greedy among the arms that are left, not once for a class of equal arms", () => {
  const epsilon = 0.25;
  const sampler = sampling(epsilonGreedy, { epsilon });
  const values = [0.1, 0.7, 0.7, 0.3, 0.7];
  const pool = poolOf(values, { once: true });
  const draws = Array.from({ length: 40_000 }, (_, i) =>
    sampler.draw(pool, 2, randomStream("pair", i), clock, []),
  );
  // Of five arms the first draw takes arm 1; of the four left the second takes the next best.
  const first = values.map((_, arm) => epsilon / 5 + (arm === 1 ? 1 - epsilon : 0));
  assert.ok(
    chiSquare(
      draws.map(([arm]) => arm!),
      first,
    ) < 18.5,
  );
  const afterBest = draws.filter(([arm]) => arm === 1).map(([, arm]) => arm!);
  const second = [0, 2, 3, 4].map((arm) => [arm, epsilon / 4 + (arm === 2 ? 1 - epsilon : 0)] as const);
  const p = values.map((_, arm) => second.find(([one]) => one === arm)?.[1] ?? 0);
  assert.ok(chiSquare(afterBest, p) < 16.3, "0.999 quantile with 3 degrees of freedom");
  const all = sampler.draw(pool, 9, randomStream("all"), clock, []);
  assert.deepEqual([...all].sort(), [0, 1, 2, 3, 4], "no arm twice, and no more than there are");
});

test("whatever a plain sampler returns, closed arms get 0 and the others sum to 1", () => {
  const isOpen = (arm: number): boolean => arm !== 1;
  for (const once of [false, true])
    for (const [weights, expected] of [
      [
        [2, 5, 6],
        [0.25, 0, 0.75],
      ],
      [
        [0, 1, 0],
        [0.5, 0, 0.5],
      ],
    ] as const) {
      const sampler = lifted({ probabilities: () => weights });
      const pool = poolOf([0, 0, 0], { isOpen, once });
      assert.deepEqual([...sampler.probabilities(pool, clock)], expected);
      assert.ok(!sampler.draw(pool, 50, randomStream("closed"), clock, []).includes(1));
    }
  assert.deepEqual(
    lifted({ probabilities: () => [1] }).draw(
      poolOf([0], { isOpen: () => false }),
      3,
      randomStream(1),
      clock,
      [],
    ),
    [],
  );
});

test("a curriculum of prompts with epsilon_greedy learns which prompt is best, and draws none twice a step", async () => {
  const curriculum = curriculumOf(
    "{ arms: { use: prompt, pool: 20 }, signal: success_rate, estimator: last, sampler: { use: epsilon_greedy, epsilon: 0 } }",
    "[{ env: countdown }]",
  );
  for (let step = 0; step < 4; step++) {
    const drawn = await curriculum.draw(5, randomStream("step", step), at(step));
    assert.equal(new Set(drawn.map(({ arm }) => arm)).size, 5);
    curriculum.observe(
      drawn.map((one, i) => group([Number(step === 1 && i === 3), 0], one)),
      [],
      at(step),
    );
  }
  const best = curriculum.arms.name(8);
  const [first] = await curriculum.draw(1, randomStream("best"), at(4));
  assert.equal(first!.arm, best, "every prompt was drawn once, and the ninth succeeded");
});
