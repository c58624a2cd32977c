import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../../bench/verdict/judge.ts";

for (const set of ["calibration", "judging"] as const)
  test(`the verdict is right about the runs that are kept: ${set}`, () => {
    const judged = judge(set);
    assert.ok(judged.length > 20);
    const wrong = judged
      .filter((one) => one.wrong)
      .map(({ run, last, alarms }) => [run.id, last, alarms.map(({ state, from }) => `${state} at ${from}`)]);
    assert.deepEqual(wrong, []);
  });
