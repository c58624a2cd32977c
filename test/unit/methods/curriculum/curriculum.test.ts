import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { starvation } from "../../../../server/algorithm/curriculum/curriculumFaults.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near, temporary } from "../../support.ts";
import { byName, clock, curriculumOf, group } from "./support.ts";

test("arms are named by task and difficulty, and each drawn task belongs to its arm", async () => {
  for (const [arms, names] of [
    ["difficulty", ["countdown/3", "countdown/4", "arithmetic/2"]],
    ["task", ["countdown", "arithmetic"]],
    ["none", ["all"]],
  ] as const) {
    const curriculum = curriculumOf(`{ arms: ${arms}, sampler: uniform }`);
    assert.deepEqual(Object.keys(byName(curriculum, [])), names);
    const drawn = await curriculum.draw(50, randomStream(5, "draw"), clock);
    assert.equal(drawn.length, 50);
    for (const { arm, task: one } of drawn) {
      assert.equal(curriculum.familyOf(one), arm);
      assert.equal(curriculum.division.armOf(one), curriculum.arms.find(arm));
    }
  }
});

test("arms can be single tasks: each is drawn once a step, and charts name them by difficulty", async () => {
  const curriculum = curriculumOf("{ arms: { use: prompt, pool: 40 }, sampler: uniform }");
  assert.equal(curriculum.arms.size, 80);
  const taken = new Set<number>();
  const first = await curriculum.draw(50, randomStream(5, "draw"), clock, taken);
  const rest = await curriculum.draw(50, randomStream(6, "draw"), clock, taken);
  assert.deepEqual(
    { firstLength: first.length, restLength: rest.length },
    { firstLength: 50, restLength: 30 },
    "the pool has no more",
  );
  assert.equal(new Set([...first, ...rest].map(({ arm }) => arm)).size, 80);
  for (const { arm, task } of first) {
    assert.equal(arm, `${task.source}/${task.id}`);
    assert.equal(curriculum.arms.task?.(curriculum.arms.find(arm)).id, task.id);
  }
  assert.deepEqual(curriculum.division.families, ["countdown/3", "countdown/4", "arithmetic/2"]);
  assert.equal((await curriculum.draw(5, randomStream(7), clock)).length, 5, "the next step begins afresh");
});

test("task weights set the uniform sampler's shares, within one undivided arm too; Boltzmann ignores them", async () => {
  assert.deepEqual([...curriculumOf("{ arms: task, sampler: uniform }").probabilities(clock)], [0.25, 0.75]);
  assert.deepEqual([...curriculumOf("{ arms: task, sampler: boltzmann }").probabilities(clock)], [0.5, 0.5]);
  const drawn = await curriculumOf("{ arms: none, sampler: uniform }").draw(
    400,
    randomStream(6, "draw"),
    clock,
  );
  const share = drawn.filter(({ task: one }) => one.source === "arithmetic").length / 400;
  assert.ok(Math.abs(share - 0.75) < 4 * Math.sqrt((0.75 * 0.25) / 400), String(share));
});

test("one update per arm and step, on the mean over all its rollouts; saved state continues exactly", async () => {
  const text =
    "{ arms: difficulty, signal: mean_abs_advantage, estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.4 } }";
  const curriculum = curriculumOf(text);
  const two = group([1, 0], { arm: "countdown/3", advantages: Float64Array.of(1, -1) });
  const four = group([1, 0, 0, 0], { arm: "countdown/3", advantages: Float64Array.of(0.4, -0.4, 0.4, -0.4) });
  const signals = curriculum.observe([two, four, group([], { arm: "countdown/4" })], [], clock);
  assert.deepEqual([...signals], [1, 0.4, Number.NaN]);
  assert.ok(near(curriculum.estimate(0), 0.5 * ((2 * 1 + 4 * 0.4) / 6)));
  assert.equal(curriculum.estimate(1), 0);
  const other = curriculumOf(text);
  const { json, arrays } = curriculum.save();
  other.load({
    json: JSON.parse(JSON.stringify(json)),
    arrays: Object.fromEntries(Object.entries(arrays ?? {}).map(([name, array]) => [name, array.slice()])),
  });
  assert.deepEqual(
    await other.draw(20, randomStream(8), clock),
    await curriculum.draw(20, randomStream(8), clock),
  );
  assert.deepEqual([...other.pool(clock).rollouts], [6, 0, 0]);
  assert.deepEqual([...other.pool(clock).groups], [2, 1, 0]);
});

test("a starved step is reported with the success rates it saw", () => {
  const told = starvation(
    [group([0, 0]), group([0, 0]), group([1, 1])],
    [0, 1, 2].map(() => ({ admitted: false, reason: "" })),
    2,
  );
  assert.match(
    told?.message ?? "",
    /kept 0 of 3 groups, but the step wants 2; success rates seen: 0 \(2×\), 1 \(1×\)/,
  );
  const used = starvation([group([1, 0])], [{ admitted: true }], 2);
  assert.match(used?.message ?? "", /there were tasks for only 1 of 2 groups/);
  assert.equal(starvation([group([1, 0])], [{ admitted: true }], 1), null);
});

test("a signal that is not finite is named with its task, and nothing of the arm is observed", () => {
  const curriculum = curriculumOf("{ arms: difficulty, signal: regret, estimator: last }");
  const broken = group([Number.POSITIVE_INFINITY, 0.5], { arm: "countdown/3" });
  curriculum.observe([broken, broken, group([1, 0], { arm: "countdown/4" })], [], clock);
  assert.match(
    curriculum
      .faults()
      .map(({ message }) => message)
      .join(),
    /the signal regret is not finite for the task t of countdown\/3, and in 1 more groups of the step; its rewards are Infinity, 0.5/,
  );
  assert.deepEqual([curriculum.estimate(0), curriculum.estimate(1)], [Number.NaN, 0.5]);
  curriculum.observe([group([1, 0], { arm: "countdown/3" })], [], clock);
  assert.deepEqual(curriculum.faults(), []);
  assert.equal(curriculum.estimate(0), 0.5, "nothing of it was remembered");
});

test("an arm that has no task left is named once, and the others are drawn in its place", async () => {
  const folder = temporary();
  // Whether a line trains is decided by its hash: of two hard lines and forty easy ones the hard ones run out.
  const line = (level: string, i: number): string =>
    JSON.stringify({ prompt: `${level} ${i}`, answer: "1", level });
  const lines = [...Array(40).keys()].map((i) => line("easy", i));
  const file = join(folder, "tasks.jsonl");
  writeFileSync(file, [...lines, line("hard", 1), line("hard", 2)].join("\n"));
  const curriculum = curriculumOf(
    "{ arms: difficulty, sampler: boltzmann }",
    `[{ name: mine, dataset: ${file}, prompt: "{prompt}", answer: "{answer}", difficulty: level, epochs: 1 }]`,
  );
  const drawn = await curriculum.draw(20, randomStream(1), clock);
  assert.equal(drawn.length, 20);
  assert.match(
    curriculum
      .faults()
      .map(({ message }) => message)
      .join(),
    /an arm has no task left to train on: mine\/hard/,
  );
  await curriculum.draw(5, randomStream(2), clock);
  assert.deepEqual(curriculum.faults(), []);
});
