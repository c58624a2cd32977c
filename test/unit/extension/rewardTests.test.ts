import assert from "node:assert/strict";
import { test } from "node:test";
import { failingText, testsIn } from "../../../extension/features/rewardTests/model.ts";

test("a test a line, with what it expects and where it was pinned; what is none is left out", () => {
  const lines = [
    { response: "7*5", expect: { term: "correct", at_most: 0 }, run: "one", step: 12 },
    { response: "a\nb", expect: { at_least: 0.5, beats: "x".repeat(60) } },
    { response: "a", expect: {} },
    { expect: { at_most: 1 } },
  ];
  const text = ["", ...lines.map((line) => JSON.stringify(line)), "{ half", "3"].join("\n");
  assert.deepEqual(testsIn(text), [
    { line: 1, label: 'correct of "7*5" is at most 0', from: "step 12 of one" },
    {
      line: 2,
      label: `reward of "a b" is at least 0.500 and is above that of "${"x".repeat(39)}…`,
      from: "",
    },
  ]);
});

test("before a launch failing tests are counted, with the first of them; nothing is said where all pass", () => {
  const outcome = (failure: string | null) => ({ file: "f", line: 0, response: "1\n2", failure });
  assert.equal(failingText([outcome(null)], []), undefined);
  assert.deepEqual(failingText([outcome(null), outcome("`a` is 1, above 0"), outcome("b")], []), {
    title: "2 of 3 reward tests fail.",
    detail: '`a` is 1, above 0 ("1 2")\nb ("1 2")',
  });
  assert.equal(failingText([outcome("b")], [])?.title, "The test of the reward fails.");
  assert.deepEqual(failingText([], [{ message: "f: not JSON" }]), {
    title: "Tests of the reward cannot be run.",
    detail: "f: not JSON",
  });
});
