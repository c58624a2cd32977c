import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "../../../server/core/blocks/stage.ts";
import { isMet as met, whyMet, whyNot, windowMean } from "../../../server/algorithm/curriculum/until.ts";

type Written = Pick<Condition, "metric" | "window"> & Partial<Condition>;
const whole = (written: Written): Condition => ({ min_delta: 0, mode: "max", ...written });
const isMet = (written: Written, history: readonly number[]): boolean => met(whole(written), history);

test("a bound is on the mean of the last values, and on nothing before there are enough", () => {
  const condition = { metric: "reward/correct", above: 0.8, window: 3 };
  assert.equal(windowMean([1, 1], 3), undefined);
  assert.equal(isMet(condition, [1, 1]), false);
  assert.equal(isMet(condition, [1, 0.7, 0.8, 0.8]), false);
  assert.equal(isMet(condition, [0, 0.9, 0.8, 0.8]), true);
  assert.equal(isMet({ metric: "update/loss", below: 0.5, window: 1 }, [0.6, 0.4]), true);
});

test("with patience the bound has to hold that many times in a row", () => {
  const condition = { metric: "m", above: 0.5, window: 1, patience: 3 };
  assert.equal(isMet(condition, [0.6, 0.4, 0.6, 0.6]), false);
  assert.equal(isMet(condition, [0.6, 0.6, 0.6]), true);
});

test("patience without a bound ends a stage that has stopped improving", () => {
  const condition = { metric: "m", window: 1, patience: 2 };
  assert.equal(isMet(condition, [0.1, 0.2, 0.3]), false);
  assert.equal(isMet(condition, [0.1, 0.3, 0.2, 0.25]), true);
});

test("an improvement is more than min_delta on the best so far, either way", () => {
  const condition = { metric: "eval/greedy", window: 1, patience: 3, min_delta: 0.05 };
  // 0.54 and 0.549 are no improvement on 0.5 by more than 0.05; 0.56 is.
  assert.equal(isMet(condition, [0.5, 0.54, 0.549]), false);
  assert.equal(isMet(condition, [0.5, 0.54, 0.549, 0.549]), true);
  assert.equal(isMet(condition, [0.5, 0.54, 0.56, 0.57, 0.58]), false);
  assert.equal(isMet(condition, [0.5, 0.54, 0.56, 0.57, 0.58, 0.6]), true);
  const falling = { ...condition, mode: "min" } as const;
  assert.equal(isMet(falling, [3, 2, 1, 0.9, 0.8]), false);
  assert.equal(isMet(falling, [3, 2, 2.5, 1.96, 2]), true);
  assert.equal(isMet(falling, []), false);
});

test("the reason is given with its numbers", () => {
  const plateau = { metric: "eval/greedy", window: 1, patience: 3, min_delta: 0.05 };
  assert.equal(
    whyMet(whole(plateau), [0.1, 0.54321, 0.55, 0.5, 0.4]),
    "eval/greedy has not risen above its best, 0.5432, by more than 0.05 for 3 values",
  );
  assert.equal(
    whyMet(whole({ metric: "reward/total", window: 2, above: 0.8 }), [0, 0.9, 0.8]),
    "the mean of reward/total over 2 values is 0.85, above 0.8",
  );
});

test("what an end lacked is reported of the conditions that do not hold", () => {
  const conditions = [
    whole({ metric: "a", above: 0.9, window: 3 }),
    whole({ metric: "b", below: 1, window: 1 }),
    whole({ metric: "c", below: 1, window: 1, patience: 2 }),
    whole({ metric: "d", above: 0, window: 5 }),
  ];
  assert.equal(
    whyNot({ of: "all", conditions }, { a: [0, 0.3, 0.3], b: [0.5], c: [3], d: [1] }),
    "the mean of a over 3 values is 0.2, not above 0.9, and c is 3, not below 1, 2 values in a row, and d has 1 of the 5 values that its window needs",
  );
});
