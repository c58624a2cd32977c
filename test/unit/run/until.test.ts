import assert from "node:assert/strict";
import { test } from "node:test";
import { isMet, windowMean } from "../../../server/run/until.ts";

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
