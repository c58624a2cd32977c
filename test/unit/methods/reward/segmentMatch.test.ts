/** What was predicted against what is there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, matched } from "../../../../server/methods/reward/segmentMatch.ts";

test("a beginning is enough, at the end of a word and of as many words as are asked for", () => {
  const prefix = (prediction: string, least = 1): number =>
    matched(prediction, "the cat sees the sun.", "prefix", least);
  assert.deepEqual(
    ["the", "the cat", "the ca", "the cat sees the sun.", "the cat sees the sun. And", "a cat", ""].map(
      (text) => prefix(text),
    ),
    [1, 1, 0, 1, 1, 0, 0],
  );
  assert.deepEqual([prefix("the", 2), prefix("the cat", 2)], [0, 1]);
});

test("exact is all of it; edit is the share of characters that are right", () => {
  assert.deepEqual([matched("ab", "ab", "exact", 1), matched("a", "ab", "exact", 1)], [1, 0]);
  assert.equal(editDistance([..."kitten"], [..."sitting"]), 3);
  assert.ok(Math.abs(matched("kitten", "sitting", "edit", 1) - 4 / 7) < 1e-12);
});

test("items: of those in either list what is in both, in any order, once each", () => {
  const items = (prediction: string): number => matched(prediction, "cat, dog,bird", "items", 1);
  assert.deepEqual(["bird dog cat", "cat", "cat, cat, fish", "fish", ""].map(items), [1, 1 / 3, 1 / 4, 0, 0]);
  assert.equal(matched(",", ",", "items", 1), 0);
});
