/** What a hole costs that only several answers in one response find. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { goldForms } from "../../../../server/analysis/rewardChecks/forms/goldForms.ts";
import { hedges, useOf } from "../../../../server/analysis/rewardChecks/hedges.ts";
import type { Task } from "../../../../server/core/task.ts";

const task: Task = { id: "1", source: "sums", env: "dataset", prompt: "2 + 3 =", answer: "5", data: {} };
const formed = (name: string) => goldForms.find((one) => one.name === name);

test("several answers, each as the reward wants it written, and no work on the way to one", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["after `####`", "#### 0 #### 5", true],
    ["after `####`", "2 + 3 is 5, not 6.\n#### 5", false],
    ["after `####`", "#### 5\n#### 5", false],
    ["in `\\boxed{}`", "Either \\boxed{4} or \\boxed{5}.", true],
    ["in `\\boxed{}`", "So 2 + 3 = \\boxed{5}.", false],
    ["in `<answer>`", "<answer>4</answer> <answer>5</answer>", true],
    ["in `<think>` and `<answer>`", "<think>4 or 5</think>\n<answer>5</answer>", false],
    ["as it is", "4\n5", true],
    ["as it is", "First we add 2 and 3, which gives us the sum of both.\n5", false],
    ["as it is", "", false],
  ];
  for (const [name, response, expected] of cases) {
    const form = formed(name);
    assert.ok(form !== undefined, name);
    assert.equal(hedges(form, task, response), expected, `${name}: ${response}`);
  }
  assert.equal(hedges(undefined, task, "4\n5"), false);
});

test("one in a thousand is a problem, less or nothing recorded a hint, and the line says how many", () => {
  const said = (count: number, of: number): readonly unknown[] => Object.values(useOf({ count, of }));
  assert.deepEqual(said(0, 0), ["", true]);
  assert.deepEqual(said(0, 7680), ["; none of 7,680 recorded answers does this", true]);
  assert.deepEqual(said(7, 7680), ["; 7 of 7,680 recorded answers do this", true]);
  assert.deepEqual(said(1, 64), ["; 1 of 64 recorded answers does this", false]);
  assert.deepEqual(said(90, 7680), ["; 90 of 7,680 recorded answers do this", false]);
});
