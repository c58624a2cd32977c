import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agreement,
  areaVariance,
  auroc,
  chanceAgreement,
  effective,
  kappa,
  labelsFor,
  lengthBias,
  ranks,
  shareOf,
  type Judged,
} from "../../../../server/analysis/judge/statistics.ts";
import type { Estimate } from "../../../../shared/rollouts/judgeReport.ts";

/** `count` answers alike. */
const answers = (count: number, score: number, good: boolean, more: Partial<Judged> = {}): Judged[] =>
  Array.from({ length: count }, () => ({ score, good, weight: 1, length: 10, ...more }));
const near = (actual: number | undefined, wanted: number, within = 5e-4): void =>
  assert.ok(actual !== undefined && Math.abs(actual - wanted) <= within, `${actual} is not ${wanted}`);
const inside = ({ value, low, high }: Estimate): boolean => low <= value && value <= high;

test("Cohen's kappa of two readers of 50 proposals", () => {
  // The table of Cohen's kappa in Wikipedia: 20 both yes, 15 both no, 5 and 10 apart; p_o 0.7, p_e 0.5, κ 0.4.
  const items = [
    ...answers(20, 1, true),
    ...answers(5, 1, false),
    ...answers(10, 0, true),
    ...answers(15, 0, false),
  ];
  near(agreement(items, 0.5)?.value, 0.7);
  near(chanceAgreement(items, 0.5), 0.5);
  near(kappa(items, 0.5)?.value, 0.4);
  assert.ok(inside(kappa(items, 0.5)!));
});

test("Wilson's interval of a share: the examples of Newcombe, Statistics in Medicine 17 (1998)", () => {
  for (const [k, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const found = shareOf([...answers(k, 1, true), ...answers(n - k, 0, true)], ({ score }) => score === 1)!;
    near(found.low, low);
    near(found.high, high);
  }
});

test("a judge that is always right is not surely so: 20 labels leave κ open down to 0.68", () => {
  const found = kappa([...answers(10, 1, true), ...answers(10, 0, false)], 0.5)!;
  assert.equal(found.value, 1);
  near(found.low, 2 * 0.8389 - 1);
  assert.equal(kappa(answers(20, 1, true), 0.5), null);
});

test("AUROC and its error of Hanley and McNeil's readings of 109 tomographies (1982)", () => {
  const normal = [33, 6, 6, 11, 2].flatMap((count, score) => answers(count, score, false));
  const ill = [3, 2, 2, 11, 33].flatMap((count, score) => answers(count, score, true));
  const found = auroc([...normal, ...ill])!;
  near(found.value, 0.893);
  near(Math.sqrt(areaVariance(0.893, 51, 58)), 0.032);
  // The borders are where the difference is 1.96 errors of the border's own.
  near((0.8931 - found.low) / Math.sqrt(areaVariance(found.low, 51, 58)), 1.96, 0.01);
  near((found.high - 0.8931) / Math.sqrt(areaVariance(found.high, 51, 58)), 1.96, 0.01);
  const perfect = auroc([...answers(10, 1, true), ...answers(10, 0, false)])!;
  assert.deepEqual([perfect.value, perfect.high], [1, 1]);
  assert.ok(perfect.low > 0.6 && perfect.low < 0.95, String(perfect.low));
  assert.equal(auroc(answers(5, 1, true)), null);
});

test("length at the same label is the partial rank correlation", () => {
  const rows = [
    [0.1, 0, 12],
    [0.4, 0, 30],
    [0.2, 0, 8],
    [0.35, 0, 25],
    [0.9, 1, 14],
    [0.6, 1, 9],
    [0.8, 1, 22],
    [0.3, 1, 11],
  ] as const;
  const items = rows.map(([score, good, length]): Judged => ({ score, good: good === 1, weight: 1, length }));
  const [x, y, label] = [
    ranks(rows.map(([score]) => score)),
    ranks(rows.map(([, , length]) => length)),
    rows.map(([, good]) => good),
  ];
  const pearson = (a: readonly number[], b: readonly number[]): number => {
    const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
    const dot = (p: readonly number[], q: readonly number[]): number =>
      p.reduce((sum, one, i) => sum + (one - mean(p)) * (q[i]! - mean(q)), 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };
  const [xy, xz, yz] = [pearson(x, y), pearson(x, label), pearson(y, label)];
  const partial = (xy - xz * yz) / Math.sqrt((1 - xz ** 2) * (1 - yz ** 2));
  const found = lengthBias(items)!;
  near(found.value, partial, 1e-9);
  assert.ok(inside(found) && found.low > -1 && found.high < 1);
  assert.equal(lengthBias(items.map((item) => ({ ...item, length: 5 }))), null);
  // A judge that is right and nothing else has no such bias, though right answers are longer.
  const right = [...answers(10, 1, true), ...answers(10, 0, false)].map((item, i) => ({
    ...item,
    length: 30 - i,
  }));
  assert.equal(lengthBias(right), null);
});

test("ranks of equal values are shared", () => assert.deepEqual(ranks([5, 1, 5, 3]), [3.5, 1, 3.5, 2]));

test("weights bring rare scores back to their share, and cost labels", () => {
  // 1 % pass. Half of the labels are of them, all wrongly passed; the others are rightly failed.
  const items = [...answers(10, 1, false, { weight: 0.02 }), ...answers(10, 0, false, { weight: 1.98 })];
  near(agreement(items, 0.5)?.value, 0.99);
  near(effective(items), 400 / (10 * 0.02 ** 2 + 10 * 1.98 ** 2), 1e-6);
  assert.ok(agreement(items, 0.5)!.low < 0.75);
});

test("labels for ± 10 points", () => {
  assert.equal(labelsFor(0.5, 0.1), 97);
  assert.equal(labelsFor(0.75, 0.1), 73);
});
