import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { AdvantageBaseline, AdvantageScale } from "../../../../server/core/slots/advantage.ts";
import { batchStd } from "../../../../server/methods/advantage/scales/batchStd.ts";
import { given } from "../../../../server/methods/advantage/baselines/given.ts";
import { groupMean } from "../../../../server/methods/advantage/baselines/groupMean.ts";
import { groupStd } from "../../../../server/methods/advantage/scales/groupStd.ts";
import { leaveOneOut } from "../../../../server/methods/advantage/baselines/leaveOneOut.ts";
import { noBaseline } from "../../../../server/methods/advantage/baselines/noBaseline.ts";
import { noScale } from "../../../../server/methods/advantage/scales/noScale.ts";
import { made, near } from "../../support.ts";
import { applied, inputOf } from "./support.ts";

/** Groups as lists of rows. */
const groupsOf = (...rows: number[][]): number[][] => rows;
const apply = (
  baseline: AdvantageBaseline,
  scale: AdvantageScale,
  totals: readonly number[],
  groups: readonly number[][],
): number[] => {
  const numbers = totals.map((_, i) => groups.findIndex((rows) => rows.includes(i)));
  return applied(baseline, scale, inputOf(totals, numbers));
};
const same = (actual: readonly number[], expected: readonly number[]): void =>
  actual.forEach((value, i) =>
    assert.ok(Object.is(value, expected[i]) || near(value, expected[i]!), `${actual} is not ${expected}`),
  );

const two = groupsOf([0, 1, 2, 3], [4, 5]);
const totals = [1, 0, 0, 3, 2, 6];

test("group mean, leave-one-out and none, by hand", () => {
  same(apply(made(groupMean, {}), made(noScale, {}), totals, two), [0, -1, -1, 2, -2, 2]);
  same(apply(made(leaveOneOut, {}), made(noScale, {}), totals, two), [0, -4 / 3, -4 / 3, 8 / 3, -4, 4]);
  same(apply(made(noBaseline, {}), made(noScale, {}), totals, two), totals);
});

test("group std divides by n − 1 and adds ε = 1e-4; the population's by n", () => {
  const sample = [Math.sqrt(6 / 3) + 1e-4, Math.sqrt(8) + 1e-4];
  same(apply(made(groupMean, {}), made(groupStd, {}), totals, two), [
    0,
    -1 / sample[0]!,
    -1 / sample[0]!,
    2 / sample[0]!,
    -2 / sample[1]!,
    2 / sample[1]!,
  ]);
  same(
    apply(
      made(groupMean, {}),
      made(groupStd, { population: true, epsilon: 0 }),
      totals,
      groupsOf([0, 1, 2, 3]),
    ).slice(0, 4),
    [0, -1, -1, 2].map((value) => value / Math.sqrt(1.5)),
  );
});

test("batch std is that of all rewards, not of the centred ones", () => {
  const spread = Math.sqrt([1, 0, 0, 3, 2, 6].reduce((sum, value) => sum + (value - 2) ** 2, 0) / 5) + 1e-4;
  same(
    apply(made(groupMean, {}), made(batchStd, {}), totals, two),
    [0, -1, -1, 2, -2, 2].map((value) => value / spread),
  );
});

test("no variance gives exactly 0, also with ε = 0 and for rewards that don't add up exactly", () => {
  for (const scale of [made(groupStd, { epsilon: 0 }), made(batchStd, { epsilon: 0 })])
    same(apply(made(groupMean, {}), scale, [0.1, 0.1, 0.1], groupsOf([0, 1, 2])), [0, 0, 0]);
});

test("rows without a reward are left out of mean and std and have no advantage", () => {
  same(apply(made(groupMean, {}), made(groupStd, { epsilon: 0 }), [1, Number.NaN, 3], groupsOf([0, 2])), [
    -Math.SQRT1_2,
    Number.NaN,
    Math.SQRT1_2,
  ]);
  same(apply(made(leaveOneOut, {}), made(noScale, {}), [1, Number.NaN, 3], groupsOf([0, 2])), [
    -2,
    Number.NaN,
    2,
  ]);
  same(apply(made(leaveOneOut, {}), made(noScale, {}), [5, Number.NaN], groupsOf([0])), [
    Number.NaN,
    Number.NaN,
  ]);
});

test("group_std and batch_std see spread differently: equal means, unlike spreads", () => {
  const groups = groupsOf([0, 1], [2, 3]);
  const group = apply(made(groupMean, {}), made(groupStd, { epsilon: 0 }), [0, 2, 0.5, 1.5], groups);
  const batch = apply(made(groupMean, {}), made(batchStd, { epsilon: 0 }), [0, 2, 0.5, 1.5], groups);
  assert.ok(near(group[1], group[3]!));
  assert.ok(near(batch[1], 2 * batch[3]!));
});

test("given has no advantages outside of recorded rollouts", () => {
  assert.throws(() => apply(made(given, {}), made(noScale, {}), totals, two), /a run has none/);
});

const rewards = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 12 });

test("group baselines sum to 0, and follow a permutation of the rows", () => {
  fc.assert(
    fc.property(rewards, fc.infiniteStream(fc.nat()), (values, keys) => {
      const order = values
        .map((_, i) => [keys.next().value, i] as const)
        .sort((a, b) => a[0] - b[0])
        .map(([, i]) => i);
      const groups = groupsOf(values.map((_, i) => i));
      return [made(groupMean, {}), made(leaveOneOut, {})].every((method) => {
        const direct = apply(method, made(groupStd, {}), values, groups);
        const permuted = apply(
          method,
          made(groupStd, {}),
          order.map((i) => values[i]!),
          groups,
        );
        return (
          Math.abs(direct.reduce((sum, value) => sum + value, 0)) < 1e-6 &&
          order.every((from, to) => near(permuted[to], direct[from]!, 1e-6))
        );
      });
    }),
  );
});

test("without ε, scaling and shifting all rewards changes no advantage", () => {
  fc.assert(
    fc.property(
      rewards,
      fc.double({ min: 0.1, max: 50, noNaN: true }),
      fc.integer({ min: -50, max: 50 }),
      (values, factor, shift) => {
        fc.pre(Math.max(...values) - Math.min(...values) > 1e-3);
        const groups = groupsOf(values.map((_, i) => i));
        const [a, b] = [values, values.map((value) => factor * value + shift)].map((list) =>
          apply(made(groupMean, {}), made(groupStd, { epsilon: 0 }), list, groups),
        );
        return a!.every((value, i) => near(value, b![i]!, 1e-6));
      },
    ),
  );
});

test("mean |A| of binary rewards under the population's std is 2√(p(1−p))", () => {
  for (const [n, right] of [
    [8, 1],
    [10, 5],
    [16, 12],
  ] as const) {
    const values = Array.from({ length: n }, (_, i) => (i < right ? 1 : 0));
    const advantages = apply(
      made(groupMean, {}),
      made(groupStd, { epsilon: 0, population: true }),
      values,
      groupsOf(values.map((_, i) => i)),
    );
    const p = right / n;
    assert.ok(
      near(advantages.reduce((sum, value) => sum + Math.abs(value), 0) / n, 2 * Math.sqrt(p * (1 - p))),
    );
  }
});
