import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  CurriculumExpectation,
  WrittenTest,
} from "../../../../server/analysis/curriculumTests/format.ts";
import { runCurriculumTests } from "../../../../server/analysis/curriculumTests/run.ts";
import { Learner } from "../../../../server/analysis/simulate/learner.ts";
import { scenarios, startingAt } from "../../../../server/analysis/simulate/scenarios.ts";
import { simulate } from "../../../../server/analysis/simulate/simulate.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { configOf, near } from "../../support.ts";

const tail = "tasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n";
const config = (text: string) => configOf(`${text}${tail}`);

/** What is wrong with each expectation, in order; undefined: nothing. */
async function judged(
  of: ReturnType<typeof config>,
  learner: WrittenTest["learner"],
  steps: number,
  expect: readonly CurriculumExpectation[],
  seeds: readonly number[] = [1],
): Promise<(string | undefined)[]> {
  const placed = expect.map((one, line) => ({ expect: one, place: { line, character: 0 } }));
  const test = { name: "a", place: { line: 0, character: 0 }, steps, learner, expect: placed };
  const [result] = await runCurriculumTests({ tests: [test], seeds }, of);
  return placed.map(({ place }) => result!.failures.find((one) => one.place === place)?.message);
}

test("a learner of some success has that success, on average over the levels that can be solved", () => {
  for (const scenario of scenarios)
    for (const success of [0.05, 0.3, 0.9]) {
      const world = startingAt(scenario, success).world(randomStream(1, "world"));
      assert.ok(near(new Learner(world).score(), success, 1e-9), scenario.name);
    }
  // An ability of 0 is where forgetting leads: a weak learner must not get better by it.
  const forgetting = scenarios.find(({ name }) => name === "forgetting")!;
  const weak = new Learner(startingAt(forgetting, 0.1).world(randomStream(1, "world")));
  weak.update([{ level: 0, gain: 0 }]);
  assert.ok(near(weak.score(), 0.1, 1e-9));
});

test("what a test looks at is the simulation of `gradus curriculum --simulate`", async () => {
  const sec = config("extends: sec\n");
  const steps = await simulate(sec.top, scenarios[0]!, [7, 0], 20);
  const levelOne = steps.slice(-10).reduce((sum, { mix }) => sum + mix[0]!, 0) / 10;
  const score = steps.at(-1)!.score;
  const about = (value: number) => ({ at_least: value - 1e-9, at_most: value + 1e-9 });
  assert.deepEqual(
    await judged(
      sec,
      undefined,
      20,
      [
        { share_of: { level: [1, 1] }, ...about(levelOne) },
        { metric: "eval/pass@1", ...about(score) },
      ],
      [7],
    ),
    [undefined, undefined],
  );
});

const expectations: CurriculumExpectation[] = [
  { share_of: { success: [0, 0.01] }, at_most: 0.1, after: 20 },
  { metric: "groups/mixed", at_least: 0.5, after: 20 },
  { metric: "eval/pass@1", beats: "uniform" },
];
const mostlyInfeasible = { scenario: "mostly_infeasible", success: 0.3 } as const;

test("a sampler that goes to tasks that always fail is caught, at the step and the level", async () => {
  const lured = config("extends: vla-rl\n");
  const [failing, mixed, beaten] = await judged(lured, mostlyInfeasible, 40, expectations);
  assert.match(
    failing!,
    /^the share of tasks solved at 0 % to 1 % is 0\.[5-9]\d* over steps 21 to 30, above 0\.1: most of these are of level ([5-9]|10) \(/,
  );
  assert.match(mixed!, /^`groups\/mixed` is 0\.\d+ over steps 21 to 30, below 0\.5: level /);
  assert.match(beaten!, /^`eval\/pass@1` is 0\.\d+ in step 40, not above the 0\.\d+ of uniform sampling: /);
});

test("a curriculum that prefers what half succeeds is as expected, with every seed", async () => {
  const balanced = config(`extends: grpo
curriculum:
  arms: difficulty
  signal: variance
  estimator: { use: ema, alpha: 0.5 }
  sampler: { use: proportional, floor: 0.05 }
`);
  assert.deepEqual(await judged(balanced, mostlyInfeasible, 40, expectations, [1, 2]), [
    undefined,
    undefined,
    undefined,
  ]);
});

test("every seed must hold, and the one that does not is named", async () => {
  const sec = config("extends: sec\n");
  const scores = [];
  for (const seed of [1, 2])
    scores.push((await simulate(sec.top, scenarios[0]!, [seed, 0], 10)).at(-1)!.score);
  const between = (scores[0]! + scores[1]!) / 2;
  const worse = scores[0]! < scores[1]! ? 1 : 2;
  const [found] = await judged(sec, {}, 10, [{ metric: "eval/pass@1", at_least: between }], [1, 2]);
  assert.match(found!, new RegExp(`^with seed ${worse}, `));
  assert.deepEqual(await judged(sec, {}, 10, [{ metric: "eval/pass@1", at_least: between }], [3 - worse]), [
    undefined,
  ]);
});

test("a config whose curriculum cannot be simulated says why", async () => {
  const none = config("stages: [{ name: warm-up, kind: sft, steps: 3 }]\n");
  await assert.rejects(judged(none, {}, 10, []), /has no rl stage/);
});
