import assert from "node:assert/strict";
import { test } from "node:test";
import { isotonic, logSpentRatio, spentAt } from "../../../bench/curriculum/curve.ts";
import type { Result } from "../../../bench/curriculum/result.ts";
import { interval, studentT, verdictOf } from "../../../bench/curriculum/statistics.ts";
import { near } from "../support.ts";

test("Student's t at 95 % is that of the printed tables", () => {
  const table: [number, number][] = [
    [1, 12.7062],
    [4, 2.77645],
    [9, 2.26216],
    [19, 2.09302],
    [100, 1.98397],
  ];
  for (const [freedom, t] of table) assert.ok(near(studentT(0.95, freedom), t, 1e-5), String(freedom));
  assert.ok(near(studentT(0.99, 9), 3.24984, 1e-5));
});

test("an interval is the mean ± t · s/√n of paired effects; one seed has none", () => {
  const found = interval([1, 2, 3, 4, 5]);
  assert.ok(
    near(found?.mean, 3) && near(found?.low, 3 - 1.963243, 1e-5) && near(found?.high, 4.963243, 1e-5),
  );
  assert.equal(interval([1]), undefined);
});

test("looks share the 5 %: two have intervals of 97.5 %", () => {
  const [once, twice] = [interval([1, 2, 3, 4, 5], 1), interval([1, 2, 3, 4, 5], 2)];
  assert.ok(near(once?.high, 4.963243, 1e-5));
  // t of 0.9875 with 4 degrees of freedom is 3.495406.
  assert.ok(near(twice?.high, 3 + 3.495406 * Math.sqrt(0.5), 1e-5), String(twice?.high));
});

test("a null counts only where the interval stays below half of what is claimed, or below a margin", () => {
  const of = (low: number, high: number): Parameters<typeof verdictOf>[0] => ({
    mean: (low + high) / 2,
    low,
    high,
    seeds: 5,
  });
  const more = (claimed: number): Parameters<typeof verdictOf>[1] => ({
    sign: 1,
    claimed,
    margin: claimed / 2,
  });
  const less = { ...more(0.2), sign: -1 } as const;
  assert.equal(verdictOf(of(0.01, 0.3), more(0.2)), "shows");
  assert.equal(verdictOf(of(0.01, 0.19), more(0.2)), "shows, but less");
  assert.equal(verdictOf(of(-0.19, -0.01), less), "shows, but less");
  assert.equal(verdictOf(of(-0.3, -0.01), more(0.2)), "the opposite shows");
  assert.equal(verdictOf(of(-0.3, -0.01), less), "shows");
  assert.equal(verdictOf(of(-0.04, 0.05), more(0.2)), "does not show");
  assert.equal(verdictOf(of(-0.06, 0.11), more(0.2)), "undecided");
  const bare = { sign: 1, margin: 0.02 } as const;
  assert.equal(verdictOf(of(0.01, 0.19), bare), "shows");
  assert.equal(verdictOf(of(-0.001, 0.001), bare), "does not show", "a direction alone has a margin");
  assert.equal(verdictOf(of(-0.03, 0.01), bare), "does not show", "what would matter is ruled out");
  assert.equal(verdictOf(of(-0.001, 0.03), bare), "undecided");
  assert.equal(verdictOf(of(0.001, 0.002), { ...bare, sign: -1 }), "the opposite shows");
});

test("falling neighbours are pooled into their mean", () => {
  assert.deepEqual(isotonic([1, 3, 2, 4]), [1, 2.5, 2.5, 4]);
  assert.deepEqual(isotonic([3, 2, 1]), [2, 2, 2]);
  assert.deepEqual(isotonic([]), []);
});

test("what was spent at a level lies on the line between points", () => {
  assert.equal(spentAt(0.3, [0, 10, 20], [0, 0.2, 0.4]), 15);
  assert.equal(spentAt(0, [0, 10], [0.1, 0.2]), 0);
  assert.equal(spentAt(1, [0, 10], [0.1, 0.2]), 10);
});

const result = (scores: readonly number[]): Result => ({
  ...{ kind: "real", side: "a", seed: 1, fingerprint: "f", date: "2026-01-01", machine: "m", version: "0" },
  ...{ seconds: 1, groups: { drawn: 1, admitted: 1, mixed: 1 } },
  points: scores.map((score, i) => ({
    ...{ step: 10 * i, rollouts: 0, written: 0, trained: 0 },
    arms: { easy: score, hard: 0 },
  })),
});

test("a run that learns twice as fast spends half until the same success", () => {
  const slow = result([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
  const fast = result([0, 0.2, 0.4, 0.6, 0.8, 0.8, 0.8, 0.8, 0.8]);
  assert.ok(
    near(
      logSpentRatio(fast, slow, ({ step }) => step, ["easy"]),
      Math.log(0.5),
      1e-9,
    ),
  );
  assert.ok(
    near(
      logSpentRatio(slow, fast, ({ step }) => step),
      Math.log(2),
      1e-9,
    ),
    "and over all arms",
  );
});
