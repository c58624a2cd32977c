import assert from "node:assert/strict";
import { test } from "node:test";
import { passDifferences, taskResults } from "../../../../server/analysis/evaluation/taskResults.ts";

const seen = (arm: string, samples: readonly boolean[], greedy?: boolean) => ({ arm, samples, greedy });

test("results task by task: what was scored, what was right, and null for a greedy answer without a score", () => {
  const results = taskResults(
    ["a", "b"],
    [seen("easy", [true, false, true, true], true), seen("hard", [false, false])],
  );
  assert.deepEqual(results, {
    tasks: ["a", "b"],
    arms: ["easy", "hard"],
    samples: [4, 2],
    right: [3, 0],
    greedy: [1, null],
  });
});

test("two evaluations are paired by the tasks' ids, whatever their order; what one of them did not score is left out", () => {
  const first = taskResults(
    ["a", "b", "c", "d"],
    [seen("x", [true, false]), seen("x", [false, false]), seen("x", []), seen("x", [true])],
  );
  const second = taskResults(
    ["b", "a", "c", "e"],
    [seen("x", [true, true]), seen("x", [false, false]), seen("x", [true]), seen("x", [true])],
  );
  assert.deepEqual(passDifferences(first, second), [-0.5, 1]);
});
