/** Intervals of held-out measures: right on average, reproducible, paired. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bootstrapMean } from "../../../../server/analysis/evaluation/bootstrap.ts";
import { differences, intervals } from "../../../../server/analysis/evaluation/compare.ts";
import type { EvaluatedTask } from "../../../../server/analysis/evaluation/types.ts";
import { evaluationReport } from "../../../../server/analysis/evaluation/passAtK.ts";
import { randomStream } from "../../../../server/lib/random.ts";

/** By the sum of twelve uniforms: mean 0, variance 1. */
const normal = (random: ReturnType<typeof randomStream>): number =>
  Array.from({ length: 12 }, () => random.next()).reduce((sum, u) => sum + u, -6);

test("a 95 % interval of a mean has the normal width, and covers the true mean about that often", () => {
  const random = randomStream(1, "data");
  let covered = 0;
  const trials = 200;
  for (let trial = 0; trial < trials; trial++) {
    const values = Array.from({ length: 60 }, () => 3 + normal(random));
    const interval = bootstrapMean(values, random.fork("draws", trial), { draws: 800 })!;
    covered += interval.low <= 3 && 3 <= interval.high ? 1 : 0;
    assert.ok(Math.abs(interval.high - interval.low - (2 * 1.96) / Math.sqrt(60)) < 0.25);
  }
  // 190 expected; the binomial's own spread is 3, and the percentile interval is a little narrow at 60 values.
  assert.ok(covered >= 178 && covered <= 199, `${covered} of ${trials}`);
});

test("the same draws give the same interval; no values give none; one value has no width", () => {
  const values = [1, 0, 0, 1, 1];
  assert.deepEqual(bootstrapMean(values, randomStream(4, "a")), bootstrapMean(values, randomStream(4, "a")));
  assert.equal(bootstrapMean([], randomStream(4, "a")), undefined);
  assert.deepEqual(bootstrapMean([0.5], randomStream(4, "a")), { low: 0.5, high: 0.5 });
});

/** Hard and easy tasks; `better` solves every tenth one more. */
const tasksOf = (better: boolean): EvaluatedTask[] =>
  Array.from({ length: 100 }, (_, i) => {
    const right = i < 50 || (better && i % 10 === 0);
    return {
      arm: i % 2 === 0 ? "a" : "b",
      samples: [right, right],
      greedy: right,
      rewards: { total: Number(right) },
    };
  });

test("pairing takes the tasks' own difficulty out of a difference", () => {
  const [first, second] = [tasksOf(true), tasksOf(false)];
  const found = differences(first, second, [1], randomStream(1, "bootstrap"));
  const greedy = found["eval/greedy"]!;
  assert.equal(greedy.value, 0.05);
  assert.equal(greedy.tasks, 100);
  assert.ok(greedy.low > 0, "although the two intervals themselves overlap widely");
  const [one, other] = [first, second].map((tasks) => intervals(tasks, [1], randomStream(1, "bootstrap")));
  assert.ok(one!["eval/greedy"]!.low < other!["eval/greedy"]!.high);
  assert.ok(Math.abs(found["eval/reward/total"]!.value - 0.05) < 1e-12);
  assert.equal(found["eval/b/greedy"]!.value, 0, "the tasks that were gained are all of arm a");
  assert.equal(found["eval/b/greedy"]!.tasks, 50);
});

test("a task that one of the two says nothing of is in neither side of the difference", () => {
  const first: EvaluatedTask[] = [
    { arm: "a", samples: [true], greedy: undefined },
    { arm: "a", samples: [true], greedy: true },
  ];
  const second: EvaluatedTask[] = [
    { arm: "a", samples: [false], greedy: false },
    { arm: "a", samples: [], greedy: false },
  ];
  const found = differences(first, second, [1], randomStream(1, "bootstrap"));
  assert.equal(found["eval/greedy"]!.tasks, 1);
  assert.equal(found["eval/pass@1"]!.tasks, 1);
  assert.throws(() => differences(first, [], [1], randomStream(1, "bootstrap")), /cannot be paired/);
});

test("the report has what each term gave the greedy answers, where it applied", () => {
  const { metrics } = evaluationReport(
    [
      { arm: "a", samples: [], greedy: true, rewards: { total: 1.5, correct: 1, brevity: 0.5 } },
      { arm: "a", samples: [], greedy: false, rewards: { total: 0, correct: 0 } },
    ],
    [1],
  );
  assert.equal(metrics["eval/reward/total"], 0.75);
  assert.equal(metrics["eval/reward/correct"], 0.5);
  assert.equal(metrics["eval/reward/brevity"], 0.5);
});
