/** Series in buckets out of a real store: several attempts, metrics of their own rhythm, values that are no numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { start, metrics as recorded, type Written } from "../log/sample.ts";
import { newStore, write } from "./support.ts";

const last = 2_999;
const resumed = 1_500;
const valueAt = (step: number, attempt: number): number => Math.sin(step / 40) + attempt;
const stepOf = (step: number, attempt: number): readonly [readonly Written[], number] => [
  [
    recorded(step, {
      dense: step === 700 ? "NaN" : valueAt(step, attempt),
      ...(step % 5 === 0 ? { seldom: step } : {}),
      "part/a": 0.25 + (step % 7) / 20,
      // What no metric of a stack says of a step is not known, and so is the stack.
      ...(step % 11 === 0 ? {} : { "part/b": 0.75 - (step % 7) / 20 }),
    }),
  ],
  step,
];
const range = (from: number, to: number, attempt: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => stepOf(from + i, attempt));

const { folder, store } = newStore();
write(folder, "a", 0, [[[start(0, null, "a")], -1], ...range(0, 1_700, 0)]);
write(folder, "a", 1, [[[start(1, resumed, "a")], -1], ...range(resumed, last, 1)]);
store.ingestAll("a");

const attemptOf = (step: number): number => (step < resumed ? 0 : 1);
const asked = (more: object = {}) =>
  store.queries.series({
    run: "a",
    metrics: ["dense", "seldom", "part/a", "part/b"],
    from: -1,
    maxPoints: 2_000,
    buckets: 256,
    stacks: [{ metrics: ["part/a", "part/b"], absent: "unknown" as const }],
    ...more,
  }).series;

test("all metrics share the borders of buckets, which hold what was recorded of their steps", () => {
  const [dense, seldom] = asked();
  assert.ok(dense !== undefined && seldom !== undefined);
  assert.deepEqual(
    {
      denseWidth: dense.width,
      seldomWidth: seldom.width,
      denseTotal: dense.total,
      seldomTotal: seldom.total,
    },
    { denseWidth: 16, seldomWidth: 16, denseTotal: 3_000, seldomTotal: 600 },
  );
  dense.steps.forEach((step, i) => {
    const begin = i * 16;
    const own = Array.from({ length: Math.min(16, last + 1 - begin) }, (_, k) => begin + k).filter(
      (at) => at !== 700,
    );
    const values = own.map((at) => valueAt(at, attemptOf(at)));
    assert.deepEqual([dense.begins?.[i], step], [begin, Math.min(begin + 15, last)]);
    assert.equal(dense.counts?.[i], own.length);
    assert.equal(dense.low?.[i], Math.min(...values));
    assert.equal(dense.high?.[i], Math.max(...values));
    const mean = values.reduce((sum, value) => sum + value, 0) / own.length;
    assert.ok(Math.abs(dense.values[i]! - mean) < 1e-12);
  });
  assert.ok(seldom.steps.every((step) => step % 5 === 0));
  assert.equal(
    seldom.counts?.reduce((sum, count) => sum + count, 0),
    600,
  );
  assert.deepEqual(dense.tail?.steps.at(-1), last);
  assert.equal(dense.tail?.values.at(-1), valueAt(last, 1));
  assert.deepEqual(dense.head?.steps, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("the means of a stack are over the steps at which all its parts are known, so that they add up", () => {
  const [, , a, b] = asked();
  assert.ok(a !== undefined && b !== undefined);
  assert.deepEqual(a.counts, b.counts);
  assert.equal(a.counts?.[0], 14);
  a.values.forEach((value, i) => assert.ok(Math.abs(value! + b.values[i]! - 1) < 1e-12));
  const [, , , zeros] = asked({ stacks: [{ metrics: ["part/a", "part/b"], absent: "zero" }] });
  assert.equal(zeros?.counts?.[0], 16);
});

test("a part of the run comes as narrow as it can; few steps come as they were recorded", () => {
  const [dense] = asked({ from: 999, to: 1_510 });
  assert.deepEqual(
    {
      denseWidth: dense?.width,
      steps0: dense?.steps[0],
      begins0: dense?.begins?.[0],
      stepsLast: dense?.steps.at(-1),
    },
    { denseWidth: 2, steps0: 1_001, begins0: 1_000, stepsLast: 1_510 },
  );
  const [points, , a, b] = asked({ from: 690, to: 709 });
  assert.deepEqual(
    { width: points?.width, stepsLength: points?.steps.length, at9: points?.values[9], low: points?.low },
    { width: 1, stepsLength: 19, at9: null, low: undefined },
  );
  assert.deepEqual(
    { aStepsLength: a?.steps.length, bStepsLength: b?.steps.length },
    { aStepsLength: 19, bStepsLength: 17 },
  );
  const nothing = asked({ from: last });
  assert.ok(nothing.every(({ steps }) => steps.length === 0));
});
