import assert from "node:assert/strict";
import { test } from "node:test";
import { origin } from "../../../server/core/rollouts.ts";
import { batchOf } from "../../support/batch.ts";
import {
  describeGroups,
  describeRewards,
  describeRollouts,
} from "../../../server/algorithm/advantages/describe.ts";

const scored = (total: readonly number[], errored: readonly number[]) => ({
  rewards: { terms: [], weights: [] },
  combined: { sources: [], total: Float64Array.from(total), errored: Uint8Array.from(errored) },
  success: new Uint8Array(total.length),
});

test("a step's rewards are reported with their extremes, which rollouts without a reward have no part in", () => {
  const metrics = describeRewards(scored([0.5, -1, 9, Number.NaN, 2], [0, 0, 1, 0, 0]));
  assert.deepEqual(
    {
      "reward/total": metrics["reward/total"],
      "reward/total/min": metrics["reward/total/min"],
      "reward/total/max": metrics["reward/total/max"],
    },
    { "reward/total": 0.5, "reward/total/min": -1, "reward/total/max": 2 },
  );
  // Of −1, 0.5 and 2: a fifth of the way from the first to the second, and four fifths on to the third.
  assert.ok(Math.abs(metrics["reward/total/p10"]! + 0.7) < 1e-12);
  assert.ok(Math.abs(metrics["reward/total/p90"]! - 1.7) < 1e-12);
  assert.deepEqual(describeRewards(scored([1], [0])), {
    "rollout/count": 1,
    "rollout/scored": 1,
    "reward/total": 1,
  });
});

test("lengths are reported with what most of them are; tokens of others count for none", () => {
  const [row, written] = [(count: number) => new Array<number>(count).fill(1), origin.written];
  const { observed } = origin;
  const metrics = describeRollouts(
    batchOf([
      { tokens: row(1), context: [] },
      { tokens: row(3), context: [] },
      { tokens: row(7), context: [], origin: [...row(5).fill(written), observed, observed] },
    ]),
  );
  assert.equal(metrics["rollout/length"], 3);
  // Of 1, 3 and 5.
  const near = (name: string, value: number): void =>
    assert.ok(Math.abs(metrics[name]! - value) < 1e-12, `${name} is ${metrics[name]}`);
  near("rollout/length/p10", 1.4);
  near("rollout/length/p50", 3);
  near("rollout/length/p90", 4.6);
  assert.equal(
    describeRollouts(batchOf([{ tokens: [1, 1], context: [] }]))["rollout/length/p50"],
    undefined,
    "of one there is no spread",
  );
});

test("successes of a response that also succeeds on a task with another answer are unearned", () => {
  const group = (id: string, answer: string | undefined, answers: readonly [string, boolean][]) => ({
    task: {
      id,
      source: "t",
      env: "t",
      prompt: id,
      data: {},
      ...(answer === undefined ? {} : { answer }),
    },
    arm: "t",
    rewards: Float64Array.from(answers, ([, right]) => Number(right)),
    advantages: new Float64Array(answers.length),
    successes: answers.filter(([, right]) => right).length,
    answers: answers.map(([response, right]) => ({ response, right })),
    lengths: new Float64Array(answers.length),
  });
  const honest = [
    group("a", "4", [
      ["4", true],
      ["5", false],
    ]),
    // Another task with the same answer is no other answer.
    group("b", "4", [["4", true]]),
    group("c", "5", [["5", true]]),
  ];
  assert.equal(describeGroups(honest)["rollout/unearned"], 0);
  assert.equal(describeGroups(honest)["groups/success_rate"], 3 / 4);
  // Without reference answers, another task asks for another answer.
  const holed = [
    group("a", undefined, [
      ["", true],
      ["2+2", true],
    ]),
    group("b", undefined, [
      ["", true],
      ["", true],
    ]),
  ];
  assert.equal(describeGroups(holed)["rollout/unearned"], 3 / 4);
  assert.equal(describeGroups([group("a", "4", [["1", false]])])["rollout/unearned"], undefined);
});
