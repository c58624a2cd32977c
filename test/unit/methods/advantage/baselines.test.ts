/** Baselines and scales over whole responses: numbers of the papers, identities, and what frameworks do differently. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../shared/lib/errors.ts";
import { batchMean } from "../../../../server/methods/advantage/baselines/batchMean.ts";
import { batchStd } from "../../../../server/methods/advantage/scales/batchStd.ts";
import { bestMinusSecond } from "../../../../server/methods/advantage/baselines/bestMinusSecond.ts";
import { canon } from "../../../../server/methods/advantage/baselines/canon.ts";
import { constant } from "../../../../server/methods/advantage/baselines/constant.ts";
import { greedy } from "../../../../server/methods/advantage/baselines/greedy.ts";
import { groupMean } from "../../../../server/methods/advantage/baselines/groupMean.ts";
import { groupStd } from "../../../../server/methods/advantage/scales/groupStd.ts";
import { leaveOneOut } from "../../../../server/methods/advantage/baselines/leaveOneOut.ts";
import { meanReward } from "../../../../server/methods/advantage/scales/meanReward.ts";
import { median } from "../../../../server/methods/advantage/baselines/median.ts";
import { movingAverage } from "../../../../server/methods/advantage/baselines/movingAverage.ts";
import { nonzeroShare } from "../../../../server/methods/advantage/scales/nonzeroShare.ts";
import { noBaseline } from "../../../../server/methods/advantage/baselines/noBaseline.ts";
import { noScale } from "../../../../server/methods/advantage/scales/noScale.ts";
import { opo } from "../../../../server/methods/advantage/baselines/opo.ts";
import { pairPartner } from "../../../../server/methods/advantage/baselines/pairPartner.ts";
import { passAtK } from "../../../../server/methods/advantage/baselines/passAtK.ts";
import { sign } from "../../../../server/methods/advantage/scales/sign.ts";
import { whitening } from "../../../../server/methods/advantage/scales/whitening.ts";
import { made } from "../../support.ts";
import { applied, inputOf } from "./support.ts";

const none = made(noScale, {});
const close = (actual: ArrayLike<number>, expected: readonly number[], tolerance = 1e-12): void => {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, i) =>
    assert.ok(
      Object.is(actual[i], value) || Math.abs(actual[i]! - value) <= tolerance,
      `${Array.from(actual).join(", ")} is not ${expected.join(", ")}`,
    ),
  );
};

test("RLOO of 1 0 0 1 1 is ½ −¾ −¾ ½ ½; standardised by the population 0.8165 and −1.2247, by the sample 0.7303 and −1.0954", () => {
  const input = inputOf([1, 0, 0, 1, 1]);
  close(applied(made(leaveOneOut, {}), none, input), [0.5, -0.75, -0.75, 0.5, 0.5]);
  const by = (population: boolean): number[] =>
    applied(made(groupMean, {}), made(groupStd, { epsilon: 0, population }), input);
  close(by(true), [0.8165, -1.2247, -1.2247, 0.8165, 0.8165], 5e-5);
  close(by(false), [0.7303, -1.0954, -1.0954, 0.7303, 0.7303], 5e-5);
});

test("Direct Advantage: candidates worth 0.8, 0.5 and 0.2 lead their mean by 0.3, 0 and −0.3", () => {
  close(applied(made(groupMean, {}), none, inputOf([0.8, 0.5, 0.2])), [0.3, 0, -0.3]);
});

test("RLP's G/(G − 1) (r − mean r) is leave-one-out", () => {
  const rewards = [0.3, -0.2, 0.9, 0.1];
  const mean = rewards.reduce((sum, r) => sum + r, 0) / 4;
  close(
    applied(made(leaveOneOut, {}), none, inputOf(rewards)),
    rewards.map((r) => (4 / 3) * (r - mean)),
  );
});

test("a rollout alone in its group: 0, its reward, or no advantage", () => {
  const alone = inputOf([3]);
  const of = (single: "zero" | "reward" | "none"): number =>
    applied(made(groupMean, { single }), none, alone)[0]!;
  assert.deepEqual([of("zero"), of("reward"), of("none")], [0, 3, Number.NaN]);
  close(
    applied(made(groupMean, { single: "reward" }), made(groupStd, { single: "one", epsilon: 1e-6 }), alone),
    [3 / (1 + 1e-6)],
  );
  close(applied(made(leaveOneOut, { single: "reward" }), none, alone), [3]);
});

test("CANON: μ = ½ with equal halves is the group mean; halves by length and by entropy, with α", () => {
  const tokens = [1, 2, 3, 4].map((n) => ({ tokens: Array.from({ length: n }, () => 1) }));
  const rewards = [1, 0, 0, 1];
  const input = inputOf(rewards, [0, 0, 0, 0], tokens);
  close(applied(made(canon, { metric: "length" }), none, input), [0.5, -0.5, -0.5, 0.5]);
  // Halves {0, 1} (mean ½) and {2, 3} (mean ½); μ = 1 compares with the other one.
  close(applied(made(canon, { metric: "length", mu: 1, alpha: 0.5 }), none, input), [
    1 - 0.25,
    0 - 0.25,
    0 - 0.5,
    0.5 - 0.5,
  ]);
  const entropies = [0.4, 0.1, 0.3, 0.2].map((h) => ({ tokens: [1, 2], entropy: [h, h] }));
  // Low: rows 1 and 3 (mean ½), high: rows 0 and 2 (mean ½).
  close(
    applied(made(canon, { mu: 0 }), none, inputOf([1, 0, 0, 1], [0, 0, 0, 0], entropies)),
    [0.5, -0.5, -0.5, 0.5],
  );
  assert.throws(() => applied(made(canon, {}), none, inputOf([1, 0])), /needs entropy/);
});

test("OPO weighs the mean by length; for equal lengths it is the group mean", () => {
  const input = inputOf([1, 0], [0, 0], [{ tokens: [1, 2, 3] }, { tokens: [1] }]);
  close(applied(made(opo, {}), none, input), [0.25, -0.75]);
  close(applied(made(opo, {}), none, inputOf([1, 0, 2])), [0, -1, 1]);
});

test("median, greedy, constant with sign, pairs", () => {
  close(applied(made(median, {}), none, inputOf([0, 1, 10])), [-1, 0, 9]);
  close(applied(made(median, { quantile: 0.25 }), none, inputOf([0, 1, 10])), [-0.5, 0.5, 9.5]);
  const baselines = [{ reward_baseline: 0.5 }, { reward_baseline: 0.25 }, {}];
  close(applied(made(greedy, {}), none, inputOf([1, 0, 1], [0, 0, 1], baselines)), [0.5, -0.25, Number.NaN]);
  assert.throws(
    () => applied(made(greedy, {}), none, inputOf([1, 0])),
    (error) => error instanceof UserError && /no rollout records one/.test(error.message),
  );
  close(applied(made(constant, {}), made(sign, {}), inputOf([1, 0, 0.5])), [1, -1, 0]);
  close(applied(made(pairPartner, {}), none, inputOf([3, 1, 4, 4, 9])), [1, -1, 0, 0, Number.NaN]);
  const pairs = [{ pair: "x" }, {}, { pair: "x" }, {}];
  close(applied(made(pairPartner, { factor: 1 }), none, inputOf([3, 1, 4, 4], [0, 0, 0, 0], pairs)), [
    -1,
    Number.NaN,
    1,
    Number.NaN,
  ]);
});

test("pass@k: the mean over all subsets of k, standardised", () => {
  const rewards = [1, 0, 0, 1, 0, 0];
  const k = 3;
  const subsets: number[][] = [];
  for (let bits = 0; bits < 64; bits++) {
    const rows = [0, 1, 2, 3, 4, 5].filter((i) => (bits >> i) & 1);
    if (rows.length === k) subsets.push(rows);
  }
  const paid = subsets.map((rows) => Math.max(...rows.map((row) => rewards[row]!)));
  const mean = paid.reduce((sum, r) => sum + r, 0) / paid.length;
  const std = Math.sqrt(paid.reduce((sum, r) => sum + (r - mean) ** 2, 0) / paid.length);
  const expected = rewards.map((_, i) => {
    const own = subsets.flatMap((rows, at) => (rows.includes(i) ? [(paid[at]! - mean) / std] : []));
    return own.reduce((sum, a) => sum + a, 0) / own.length;
  });
  close(applied(made(passAtK, { k }), none, inputOf(rewards)), expected);
  // k = 1 is the group mean over the population's deviation.
  close(
    applied(made(passAtK, { k: 1 }), none, inputOf(rewards)),
    applied(made(groupMean, {}), made(groupStd, { population: true, epsilon: 0 }), inputOf(rewards)),
  );
  close(applied(made(passAtK, { k }), none, inputOf([1, 1, 1, 0, 0])), [0, 0, 0, 0, 0]);
  close(applied(made(passAtK, { k }), none, inputOf([0, 0])), [0, 0]);
});

test("the best of the group has its lead over the second", () => {
  close(applied(made(bestMinusSecond, {}), none, inputOf([1, 4, 2.5])), [0, 1.5, 0]);
  close(applied(made(bestMinusSecond, {}), none, inputOf([4, 4])), [0, 0]);
});

test("scales: whitening, mean reward, share of rewards that are not 0, spread of the centred", () => {
  const input = inputOf([1, 0, 0, 4], [0, 0, 1, 1]);
  const centred = made(groupMean, {});
  close(
    applied(centred, made(whitening, { epsilon: 0 }), input),
    [0.5, -0.5, -2, 2].map((a) => a / Math.sqrt(8.5 / 3)),
  );
  close(applied(centred, made(meanReward, {}), input), [1, -1, -1, 1]);
  close(applied(centred, made(meanReward, {}), inputOf([0, 0])), [0, 0]);
  close(applied(centred, made(nonzeroShare, {}), input), [1, -1, -4, 4]);
  close(
    applied(centred, made(batchStd, { epsilon: 0, of: "advantages" }), input),
    [0.5, -0.5, -2, 2].map((a) => a / Math.sqrt(8.5 / 3)),
  );
});

test("a moving average knows the steps before, by arm or task, and is itself after load", () => {
  const input = inputOf([1, 3], [0, 1]);
  const average = made(movingAverage, { decay: 0.5 });
  const step = (): number[] => {
    const result = [...average.centre(input)];
    average.observe?.(input.totals, input.batch);
    return result;
  };
  assert.deepEqual(
    [step(), step()],
    [
      [1, 3],
      [-1, 1],
    ],
  );
  const second = made(movingAverage, { decay: 0.5 });
  second.load?.(average.save!());
  assert.deepEqual([...second.centre(input)], [...average.centre(input)]);
  const byTask = made(movingAverage, { by: "task" });
  byTask.observe?.(input.totals, input.batch);
  assert.deepEqual([...byTask.centre(input)], [0, 0]);
  const recent = made(movingAverage, { window: 3, quantile: 0.5 });
  for (const rewards of [
    [100, 100],
    [1, 2],
    [3, Number.NaN],
  ]) {
    const next = inputOf(rewards);
    recent.observe?.(next.totals, next.batch);
  }
  assert.deepEqual([...recent.centre(inputOf([5]))], [3]);
  assert.deepEqual([...made(movingAverage, { start: 2 }).centre(input)], [-1, 1]);
});

const sizes = fc.integer({ min: 2, max: 9 });
const rewards = sizes.chain((n) =>
  fc.array(fc.double({ min: -9, max: 9, noNaN: true }), { minLength: n, maxLength: n }),
);

test("group baselines sum to 0 in each group, and a permutation of the rows permutes them", () => {
  const methods = [
    made(groupMean, {}),
    made(leaveOneOut, {}),
    made(canon, { metric: "length", mu: 0 }),
    made(passAtK, { k: 2, at_least: 0 }),
  ];
  fc.assert(
    fc.property(rewards, fc.infiniteStream(fc.nat()), (values, keys) => {
      const order = values
        .map((_, i) => [keys.next().value, i] as const)
        .sort((a, b) => a[0] - b[0] || a[1] - b[1])
        .map(([, i]) => i);
      const rows = values.map((_, i) => ({ index: i, tokens: Array.from({ length: (i * 7) % 5 }, () => 1) }));
      return methods.every((method) => {
        const direct = [...method.centre(inputOf(values, undefined, rows))];
        const permuted = [
          ...method.centre(
            inputOf(
              order.map((i) => values[i]!),
              undefined,
              order.map((i) => rows[i]!),
            ),
          ),
        ];
        return (
          Math.abs(direct.reduce((sum, a) => sum + a, 0)) < 1e-9 &&
          order.every((from, to) => Math.abs(permuted[to]! - direct[from]!) < 1e-9)
        );
      });
    }),
  );
});

test("OPO's length-weighted advantages sum to 0", () => {
  fc.assert(
    fc.property(rewards, (values) => {
      const rows = values.map((_, i) => ({ tokens: Array.from({ length: 1 + ((i * 5) % 4) }, () => 1) }));
      const advantages = made(opo, {}).centre(inputOf(values, undefined, rows));
      const sum = advantages.reduce((total, a, i) => total + a * rows[i]!.tokens.length, 0);
      return Math.abs(sum) < 1e-9;
    }),
  );
});

test("a row without a reward has no advantage under any of them", () => {
  const input = inputOf([1, Number.NaN, 0]);
  const all = [
    made(groupMean, {}),
    made(leaveOneOut, {}),
    made(noBaseline, {}),
    made(median, {}),
    made(opo, {}),
    made(passAtK, {}),
    made(bestMinusSecond, {}),
    made(constant, {}),
    made(movingAverage, {}),
    made(pairPartner, {}),
    made(canon, { metric: "length" }),
  ];
  for (const baseline of all) assert.ok(Number.isNaN(baseline.centre(input)[1]!));
});

test("batch_mean subtracts the mean of all rollouts, whatever their groups; rows without a reward stay without", () => {
  close(applied(made(batchMean, {}), none, inputOf([1, 0, 2, Number.NaN], [0, 0, 1, 1])), [
    0,
    -1,
    1,
    Number.NaN,
  ]);
});
