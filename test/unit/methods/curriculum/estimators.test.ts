import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ema } from "../../../../server/methods/curriculum/estimators/ema.ts";
import { last } from "../../../../server/methods/curriculum/estimators/last.ts";
import { window } from "../../../../server/methods/curriculum/estimators/window.ts";
import { made, near } from "../../support.ts";
import { observed } from "./support.ts";

test("EMA starts at 0, weighs the new observation by α and has its closed form", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { maxLength: 20 }),
      (alpha, values) => {
        const estimator = made(ema, { alpha });
        values.forEach((value, step) => estimator.observe(observed(0, value), step));
        const closed = values.reduce(
          (sum, value, i) => sum + alpha * (1 - alpha) ** (values.length - 1 - i) * value,
          0,
        );
        return near(estimator.estimate(0), closed, 1e-9) && estimator.estimate(1) === 0;
      },
    ),
  );
});

test("EMA: arms that are not drawn stay, or decay when asked to", () => {
  for (const [decay_unsampled, expected] of [
    [false, 1],
    [true, 0.5],
  ] as const) {
    const estimator = made(ema, { alpha: 0.5, decay_unsampled });
    estimator.observe(observed(0, 2), 0);
    estimator.endStep?.();
    estimator.observe(observed(1, 4), 1);
    estimator.endStep?.();
    assert.equal(estimator.estimate(0), expected);
    assert.equal(estimator.estimate(1), 2);
  }
});

test("window and last know nothing at first, then the mean of what is kept; saved state is exact", () => {
  for (const [make, expected] of [
    [() => made(window, { size: 2 }), 2.5],
    [() => made(last, {}), 3],
  ] as const) {
    const estimator = make();
    assert.equal(estimator.estimate(0), Number.NaN);
    [1, 2, 3].forEach((value, step) => estimator.observe(observed(0, value), step));
    assert.equal(estimator.estimate(0), expected);
    const copy = make();
    copy.load(estimator.save());
    assert.equal(copy.estimate(0), expected);
  }
});

test("a window of rollouts keeps what each of them said (DUMP: 300)", () => {
  const estimator = made(window, { size: 3, of: "rollouts" });
  estimator.observe(observed(0, 1, 2), 0);
  assert.equal(estimator.estimate(0), 1.5);
  estimator.observe(observed(0, 6, 7), 1);
  assert.equal(estimator.estimate(0), 5);
});
