/** The table of what became of every stage's tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixText } from "../../../server/cli/text/matrixText.ts";
import { matrixRows } from "../../../shared/metrics/matrix.ts";

const ends = [
  {
    step: 9,
    stage: "easy",
    metrics: { "eval/easy/pass@1": 0.5, "eval/hard/pass@1": 0, "eval/easy/greedy": 1 },
  },
  { step: 19, stage: "hard", metrics: { "eval/easy/pass@1": 0.25, "eval/hard/pass@1": 0.75 } },
];

test("a row a stage's tasks, a column a stage's end, and what was lost since the stage's own", () => {
  assert.deepEqual(matrixRows(ends), [
    { stage: "easy", values: [0.5, 0.25], change: -0.25 },
    { stage: "hard", values: [0, 0.75], change: 0 },
  ]);
  assert.deepEqual(matrixText(ends).slice(1), [
    "pass@1  after easy  after hard  change",
    "easy       [0.500]       0.250  −0.250",
    "hard         0.000     [0.750]  +0.000",
  ]);
  assert.deepEqual(matrixText([]), []);
});

test("a stage that has not ended has no change", () => {
  assert.deepEqual(
    matrixRows(ends.slice(0, 1)).map(({ stage, change }) => [stage, change]),
    [
      ["easy", 0],
      ["hard", null],
    ],
  );
});
