/** What a group says of its arm, against the definitions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { accuracyVariance } from "../../../../server/methods/curriculum/signals/accuracyVariance.ts";
import { bestMinusMean } from "../../../../server/methods/curriculum/signals/bestMinusMean.ts";
import { label } from "../../../../server/methods/curriculum/signals/label.ts";
import { learningProgress } from "../../../../server/methods/curriculum/signals/learningProgress.ts";
import { nearestProgress } from "../../../../server/methods/curriculum/signals/nearestProgress.ts";
import { neverLearned } from "../../../../server/methods/curriculum/signals/neverLearned.ts";
import { regret } from "../../../../server/methods/curriculum/signals/regret.ts";
import { rewardRange } from "../../../../server/methods/curriculum/signals/rewardRange.ts";
import { rewardStd } from "../../../../server/methods/curriculum/signals/rewardStd.ts";
import type { ArmSet } from "../../../../server/core/slots/arms.ts";
import type { Signal } from "../../../../server/core/slots/curriculum.ts";
import { made, near } from "../../support.ts";
import { group, task } from "./support.ts";

const arms: ArmSet = new NamedArms(["a", "b"]);
const says = (signal: Signal, rewards: readonly number[], arm = 0, of = arms): number => {
  const values = Array.from(signal.measure(group(rewards), arm, of, []));
  signal.remember?.(group(rewards), arm, of);
  return values.length === 0 ? Number.NaN : values.reduce((sum, x) => sum + x, 0) / values.length;
};

test("range, best minus mean and standard deviation of a group's rewards", () => {
  assert.equal(says(made(rewardRange, {}), [0.25, 1, -0.5]), 1.5);
  assert.ok(near(says(made(bestMinusMean, {}), [0.25, 1, -0.5]), 0.75));
  assert.ok(near(says(made(rewardStd, {}), [1, 0, 0, 1]), 0.5));
  assert.ok(near(says(made(rewardStd, { sample: true }), [1, 0, 0, 1]), Math.sqrt(1 / 3)));
});

test("regret is against the best that the arm ever earned, each arm for itself", () => {
  const signal = made(regret, {});
  assert.equal(says(signal, [0, 0.8]), 0.4);
  assert.ok(near(says(signal, [0.2, 0.2]), 0.6));
  assert.equal(says(signal, [0.2, 0.2], 1), 0);
});

test("the variance of success rates over the visits is that of all of them", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 12 }), (counts) => {
      const signal = made(accuracyVariance, {});
      const rates = counts.map((right) => right / 4);
      const said = counts
        .map((right) =>
          says(
            signal,
            [0, 1, 2, 3].map((i) => Number(i < right)),
          ),
        )
        .at(-1);
      const centre = rates.reduce((sum, p) => sum + p, 0) / rates.length;
      return near(said, rates.reduce((sum, p) => sum + (p - centre) ** 2, 0) / rates.length);
    }),
  );
});

test("never learned: low and not rising", () => {
  const course = (rates: readonly number[]): number =>
    rates.reduce(
      ({ signal }, rate) => ({
        signal,
        said: says(
          signal,
          [0, 1, 2, 3].map((i) => Number(i < 4 * rate)),
        ),
      }),
      { signal: made(neverLearned, {}), said: Number.NaN },
    ).said;
  assert.equal(course([0, 0, 0]), 1);
  assert.equal(course([0.25, 0, 0]), 1);
  assert.equal(course([0, 0.25, 0.25]), 0, "it rises");
  assert.equal(course([0.5, 0, 0]), 0, "it was learned once");
});

test("learning progress is the change of the step's mean since the arm's last step; the first says nothing", () => {
  const signal = made(learningProgress, {});
  const step = (...groups: readonly (readonly number[])[]): number[] => {
    const said = groups.map((rewards) => Array.from(signal.measure(group(rewards), 0, arms, []))[0]!);
    for (const rewards of groups) signal.remember?.(group(rewards), 0, arms);
    signal.endStep?.();
    return said;
  };
  assert.deepEqual(step([1, 0], [1, 1]), [undefined, undefined]);
  assert.deepEqual(step([0, 0], [1, 1]), [-0.75, 0.25], "against 3/4, and not against the last group");
  assert.deepEqual(step([1, 1]), [0.5]);
  assert.equal(signal.score?.(-0.5), 0.5);
  assert.equal(made(learningProgress, { absolute: false }).score, undefined);
  const zero = made(learningProgress, { start: 0 });
  assert.deepEqual(Array.from(zero.measure(group([1, 0]), 0, arms, [])), [0.5]);
});

test("progress against the nearest past task, once there are more than five, distances within the box", () => {
  const points = [
    [0, 0],
    [10, 0],
    [0, 1000],
    [10, 1000],
    [5, 500],
    [5, 400],
    [1, 900],
  ];
  const box: ArmSet = {
    size: points.length,
    name: String,
    find: Number,
    point: (arm) => points[arm]!,
    box: [
      { name: "a", low: 0, high: 10, whole: true },
      { name: "b", low: 0, high: 1000, whole: true },
    ],
  };
  const signal = made(nearestProgress, {});
  const said = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6].map((reward, arm) => says(signal, [reward], arm, box));
  assert.deepEqual(said, [0, 0, 0, 0, 0, 0]);
  assert.ok(near(says(signal, [1], 6, box), 0.7), "nearest to (0, 1000), which earned 0.3");
});

test("distances in a scaled box, or as the parameters are", () => {
  const points = [
    [10, 500],
    [0, 560],
    [0, 0],
    [10, 0],
    [0, 1000],
    [10, 1000],
    [0, 500],
  ];
  const box: ArmSet = {
    size: points.length,
    name: String,
    find: Number,
    point: (arm) => points[arm]!,
    box: [
      { name: "a", low: 0, high: 10, whole: true },
      { name: "b", low: 0, high: 1000, whole: true },
    ],
  };
  for (const [scaled, expected] of [
    [true, 0.8],
    [false, 0.9],
  ] as const) {
    const signal = made(nearestProgress, { scaled });
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6].forEach((reward, arm) => says(signal, [reward], arm, box));
    assert.ok(near(says(signal, [1], 6, box), expected));
  }
});

test("progress is computed from the groups before it of the same step, too", () => {
  const box: ArmSet = {
    size: 7,
    name: String,
    find: Number,
    point: (arm) => [arm],
    box: [{ name: "a", low: 0, high: 6, whole: true }],
  };
  const signal = made(nearestProgress, {});
  const earlier = [0, 1, 2, 3, 4, 5].map((arm) => ({ group: group([arm / 10]), arm }));
  const said = (n: number): number[] => Array.from(signal.measure(group([1]), 6, box, earlier.slice(0, n)));
  assert.deepEqual([said(5), said(6)], [[0], [0.5]], "more than 5 of them, the nearest earned 0.5");
  earlier.slice(0, 5).forEach((one) => signal.remember?.(one.group, one.arm, box));
  assert.deepEqual(Array.from(signal.measure(group([1]), 6, box, [earlier[5]!])), [0.5]);
  assert.deepEqual(Array.from(signal.measure(group([1]), 6, box, [])), [0]);
});

test("a label is a number of the task, and its lack is named", () => {
  const signal = made(label, { field: "level.now" });
  const of = (data: typeof task.data): number =>
    Array.from(signal.measure(group([0], { task: { ...task, data } }), 0, arms, []))[0]!;
  assert.equal(of({ level: { now: "2.5" } }), 2.5);
  assert.throws(() => of({ level: 3 }), /the task t has no number in its field level.now/);
});
