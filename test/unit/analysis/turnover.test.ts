/** Planted learning and forgetting are found, with their steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { turnover, type Evaluated } from "../../../shared/run/turnover.ts";
import { turnoverLines } from "../../../server/cli/runs/comparing/turnover.ts";

/** @param right a letter a task, in capitals where it was right */
const at = (step: number, right: string): Evaluated => ({
  step,
  results: {
    tasks: [...right].map((letter) => letter.toLowerCase()),
    arms: [...right].map(() => "arm"),
    samples: [...right].map(() => 4),
    right: [...right].map(() => 1),
    greedy: [...right].map((letter) => Number(letter === letter.toUpperCase())),
  },
});

test("what was learned, kept and forgotten is told with its steps", () => {
  const found = turnover([at(-1, "ABcdef"), at(9, "aBCDef"), at(19, "ABCdEf"), at(29, "aBCdEf")])!;
  assert.deepEqual([found.first, found.last, found.tasks, found.kept], [-1, 29, 6, 1]);
  assert.deepEqual(
    found.learned.map(({ task, solved }) => [task, solved]),
    [
      ["c", 9],
      ["e", 19],
    ],
  );
  assert.deepEqual(
    found.forgotten.map(({ task, solved, lost }) => [task, solved, lost]),
    [
      ["a", 19, 29],
      ["d", 9, 19],
    ],
  );
  assert.deepEqual(found.course, [
    { step: -1, right: 2, lost: 0 },
    { step: 9, right: 3, lost: 1 },
    { step: 19, right: 4, lost: 1 },
    { step: 29, right: 3, lost: 2 },
  ]);
  const text = turnoverLines(found, (step) => step + 1).join("\n");
  assert.match(text, /2 learned, 1 kept, 2 forgotten/);
  assert.match(text, /20 {2}30 {2}a/);
});

test("tasks count where both ends have asked them; without a greedy answer a sampled one counts", () => {
  const sampled = ({ step, results }: Evaluated, right: readonly number[]): Evaluated => ({
    step,
    results: { ...results, right: [...right], greedy: results.tasks.map(() => null) },
  });
  const found = turnover([sampled(at(0, "abc"), [1, 0, 1]), sampled(at(5, "ab"), [0, 2])])!;
  assert.equal(found.tasks, 2);
  assert.deepEqual(
    [found.forgotten.map(({ task }) => task), found.learned.map(({ task }) => task)],
    [["a"], ["b"]],
  );
  assert.equal(turnover([at(0, "abc")]), undefined);
  assert.equal(turnover([at(0, "abc"), at(5, "xyz")]), undefined);
});
