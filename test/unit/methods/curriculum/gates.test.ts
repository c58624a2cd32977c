/** Admission, refill and budget: what trains, how much is drawn, how many rollouts each task gets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { advantageRange } from "../../../../server/methods/curriculum/admission/advantageRange.ts";
import { balanced } from "../../../../server/methods/curriculum/admission/balanced.ts";
import { greedyWrong } from "../../../../server/methods/curriculum/admission/greedyWrong.ts";
import { minBestReward } from "../../../../server/methods/curriculum/admission/minBestReward.ts";
import { seenBefore } from "../../../../server/methods/curriculum/admission/seenBefore.ts";
import { retainHardest } from "../../../../server/methods/curriculum/admission/retainHardest.ts";
import { rewardSpread } from "../../../../server/methods/curriculum/admission/rewardSpread.ts";
import {
  apportion,
  gradientDeviation,
  gradientVariance,
} from "../../../../server/methods/curriculum/budget/gradientVariance.ts";
import { twoPhase } from "../../../../server/methods/curriculum/budget/twoPhase.ts";
import { untilMixed } from "../../../../server/methods/curriculum/budget/untilMixed.ts";
import { oversample } from "../../../../server/methods/curriculum/budget/oversample.ts";
import { refills } from "../../../../server/methods/curriculum/index.ts";
import { minimaRefill } from "../../../../server/methods/curriculum/refill/minimaRefill.ts";
import type { Admission } from "../../../../server/core/slots/curriculum.ts";
import { context, made, near } from "../../support.ts";
import { clock, group } from "./support.ts";

const keeps = (admission: Admission, ...rewards: readonly number[]): boolean =>
  admission.admit(group(rewards)).admitted;

test("RLPR: below β times the moving average of the deviation a group does not train", () => {
  const admission = made(rewardSpread, { beta: 0.5, decay: 0.9 });
  assert.ok(keeps(admission, 1, 1), "nothing is known at first");
  admission.remember?.([group([1, 0]), group([0, 0])], [0, 0], clock);
  // Mean deviation 0.25: the bound is 0.125.
  assert.ok(!keeps(admission, 0, 0.24));
  assert.ok(keeps(admission, 0, 0.26));
  admission.remember?.([group([1, 0])], [0], clock);
  // 0.9 · 0.25 + 0.1 · 0.5 = 0.275.
  assert.ok(!keeps(admission, 0, 0.274) && keeps(admission, 0, 0.276));
  const copy = made(rewardSpread, { beta: 0.5, decay: 0.9 });
  copy.load?.(admission.save!());
  assert.ok(!keeps(copy, 0, 0.274) && keeps(copy, 0, 0.276));
});

test("RLPR's script: the average begins with the mean of steps 6 to 10, and filters from step 11", () => {
  const options = { beta: 0.5, from: 5, over: 5 };
  const admission = made(rewardSpread, options);
  // Deviations of 0.1, 0.2 … 1 in steps 1 to 10: the average begins at 0.8.
  for (let step = 1; step <= 10; step++) {
    assert.ok(keeps(admission, 1, 1), `step ${step}`);
    admission.remember?.([group([0, step / 5])], [0], clock);
  }
  assert.deepEqual([keeps(admission, 0, 0.79), keeps(admission, 0, 0.81)], [false, true]);
  admission.remember?.([group([0, 4])], [0], clock);
  const bound = 0.5 * (0.99 * 0.8 + 0.01 * 2);
  const copy = made(rewardSpread, options);
  copy.load?.(admission.save!());
  for (const one of [admission, copy]) {
    assert.ok(!keeps(one, 0, 2 * bound - 1e-6) && keeps(one, 0, 2 * bound + 1e-6));
  }
});

test("RLPR with β = 1: groups that all differ alike train", () => {
  const admission = made(rewardSpread, { beta: 1 });
  for (let step = 0; step < 50; step++) {
    assert.ok(keeps(admission, 1, 0, 0), `step ${step}`);
    admission.remember?.([group([1, 0, 0]), group([0, 1, 0]), group([0, 0, 1])], [0, 0, 0], clock);
  }
});

test("filters by best reward, advantage, balance and the greedy answer", () => {
  assert.ok(!keeps(made(minBestReward, {}), 0, 0) && keeps(made(minBestReward, {}), 0, 0.1));
  assert.ok(!keeps(made(minBestReward, { least: 1 }), 0, 0.9));
  const range = made(advantageRange, { low: 0.3, high: 0.45 });
  assert.deepEqual([keeps(range, 1, 0), keeps(range, 1, 0, 0, 0), keeps(range, 0, 0)], [false, true, false]);
  const groups = [group([1, 1, 1, 1]), group([1, 0, 0, 0]), group([1, 1, 0, 0]), group([1, 1, 1, 0])];
  assert.deepEqual(made(balanced, {}).prefer?.(groups), [2, 1, 3, 0]);
  const { screen } = made(greedyWrong, {});
  assert.deepEqual(
    { samples: screen?.samples, temperature: screen?.temperature },
    { samples: 1, temperature: 0 },
  );
  assert.deepEqual([screen?.admit(group([1])).admitted, screen?.admit(group([0])).admitted], [false, true]);
});

test("after a phase only the hardest arms stay open, of those that it has tried", () => {
  const admission = made(retainHardest, { keep: 2, every: 2 });
  const open = (): number[] => [0, 1, 2, 3].filter((arm) => admission.left?.()?.has(arm) ?? true);
  admission.remember?.([group([1, 1]), group([1, 0])], [0, 1], clock);
  assert.deepEqual(open(), [0, 1, 2, 3]);
  admission.remember?.([group([0, 0]), group([0, 0])], [2, 1], clock);
  assert.deepEqual(open(), [1, 2], "rates 1, ¼ and 0; arm 3 was not tried");
  admission.remember?.([group([1, 1])], [2], clock);
  admission.remember?.([group([1, 1])], [2], clock);
  assert.deepEqual(open(), [1, 2], "one arm tried is not enough to choose two from");
});

test("DRIVE's phases: how many stay, and after how many steps, may differ from one to the next", () => {
  const options = { keep: [3, 2, 1], every: [1, 2, 1] };
  const admission = made(retainHardest, options);
  const open = (of: Admission): number[] => [0, 1, 2, 3].filter((arm) => of.left?.()?.has(arm) ?? true);
  const rewards = [
    [1, 1],
    [1, 0],
    [0, 0],
    [0, 1],
  ].map((one) => group(one));
  const after: number[][] = [];
  for (let step = 0; step < 6; step++) {
    const left = open(admission);
    admission.remember?.(
      left.map((arm) => rewards[arm]!),
      left,
      clock,
    );
    const copy = made(retainHardest, options);
    copy.load?.(admission.save!());
    assert.deepEqual(open(copy), open(admission));
    after.push(open(admission));
  }
  assert.deepEqual(after, [[1, 2, 3], [1, 2, 3], [1, 2], [2], [2], [2]]);
});

test("CodeV-R1's refill: what is missing over the lesser of two running minima", () => {
  const refill = made(minimaRefill, { factor: 100 });
  assert.equal(refill.more({ wanted: 10, admitted: 5, drawn: 10, round: 1 }), 10);
  assert.equal(refill.more({ wanted: 10, admitted: 7, drawn: 20, round: 2 }), Math.ceil(3 / 0.2));
  assert.equal(refill.more({ wanted: 10, admitted: 9, drawn: 40, round: 3 }), Math.ceil(1 / 0.1));
  const copy = made(minimaRefill, { factor: 100 });
  copy.load?.(refill.save!());
  for (const one of [refill, copy])
    assert.equal(one.more({ wanted: 10, admitted: 8, drawn: 10, round: 1 }), 20, "0.1 is remembered");
});

test("every refill ends, also where no group is ever admitted", () => {
  for (const declaration of refills) {
    const refill = declaration.create(declaration.params.parse({}), context);
    let [drawn, round] = [8, 1];
    for (let more = 1; more > 0; round++) {
      more = refill.more({ wanted: 8, admitted: 0, drawn, round });
      drawn += more;
      assert.ok(round < 50 && drawn <= 8 * 50, declaration.name);
    }
  }
});

test("a budget by gradient variance: √(p(1−p)) where both norms are 1, and the sum is kept", () => {
  for (const p of [0, 0.1, 0.5, 0.9, 1]) {
    assert.ok(near(gradientDeviation(p, 1, 1), Math.sqrt(p * (1 - p))));
    const [c, w] = [2, 0.5];
    const square =
      p * (1 - p) ** 2 * c ** 2 + p ** 2 * (1 - p) * w ** 2 - p ** 2 * (1 - p) ** 2 * (c - w) ** 2;
    assert.ok(near(gradientDeviation(p, c, w) ** 2, square, 1e-9));
  }
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 }),
      (weights) => {
        const shares = apportion(weights, 8 * weights.length, 2);
        return shares.reduce((sum, n) => sum + n, 0) === 8 * weights.length && shares.every((n) => n >= 2);
      },
    ),
  );
  const rates = [0.5, 0.02, 1];
  assert.deepEqual(
    made(gradientVariance, { least: 1 }).rollouts?.([0, 1, 2], 8, (arm) => rates[arm]!),
    [17, 6, 1],
  );
});

test("over-sampling follows the moving average of 1/(share of mixed groups), within its bound", () => {
  const budget = made(oversample, { decay: 0.5, most: 4 });
  assert.equal(budget.groups?.(10, clock), 10);
  budget.learn?.([group([1, 1]), group([1, 0])], [0, 0], [], clock);
  assert.equal(budget.groups?.(10, clock), 15);
  budget.learn?.([group([1, 1])], [0], [], clock);
  assert.equal(budget.groups?.(10, clock), Math.ceil(10 * (0.75 + 2)));
});

test("over-sampling whose least and most are one number is always that", () => {
  const budget = made(oversample, { least: 4, most: 4 });
  assert.equal(budget.groups?.(8, clock), 32);
  budget.learn?.([group([1, 0])], [0], [], clock);
  assert.equal(budget.groups?.(8, clock), 32);
});

test("an arm's first group measures it and does not train, later steps' do", () => {
  const admission = made(seenBefore, {});
  const [a, b] = [group([1, 0], { arm: "a" }), group([0, 0], { arm: "b" })];
  assert.ok(!admission.admit(a).admitted);
  assert.ok(!admission.admit(a).admitted, "the same step asks again");
  admission.remember?.([a, group([], { arm: "b" })], [0, 1], clock);
  assert.ok(admission.admit(a).admitted && !admission.admit(b).admitted, "b has no reward yet");
  const copy = made(seenBefore, {});
  copy.load?.(admission.save!());
  assert.ok(copy.admit(a).admitted && !copy.admit(b).admitted);
});

test("SPEED: 4 rollouts first, then the rest of the group where these are mixed, once", () => {
  const budget = made(twoPhase, {});
  assert.deepEqual(
    budget.rollouts?.([0, 1], 24, () => 0),
    [4, 4],
  );
  assert.deepEqual(
    budget.rollouts?.([0], 3, () => 0),
    [3],
    "no more than the group",
  );
  const after = (rewards: readonly number[], rollouts = rewards.length): number =>
    budget.more!(group(rewards), { rollouts, lots: 1, size: 24 });
  assert.deepEqual([after([1, 1, 1, 1]), after([0, 0, 0, 0]), after([0, 0, 1, 0])], [0, 0, 20]);
  assert.equal(after([0, 1], 4), 20, "two of four could not be scored");
  assert.equal(after(Array.from({ length: 24 }, (_, i) => i % 2)), 0);
  assert.equal(after([]), 0);
});

/** As `_generate_multi_round_adaptive_downsampling` of RLHFlow/Reinforce-Ada at 05be6058 decides which prompts stay active. */
test("Reinforce-Ada: rounds until half of the four that train can be right and half wrong, four at most", () => {
  const budget = made(untilMixed, {});
  const after = (right: number, wrong: number, lots: number, own = budget): number =>
    own.more!(group([...Array<number>(right).fill(1), ...Array<number>(wrong).fill(0)]), {
      ...{ lots, size: 8 },
      rollouts: right + wrong,
    });
  assert.deepEqual([after(1, 7, 1), after(2, 6, 1), after(7, 1, 1), after(0, 16, 2)], [8, 0, 8, 8]);
  assert.deepEqual([after(1, 31, 4), after(0, 32, 4)], [0, 0]);
  const positive = made(untilMixed, { right: 1, wrong: 0 });
  assert.deepEqual([after(8, 0, 1, positive), after(0, 8, 1, positive)], [0, 8]);
});
