import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { k1 } from "../../../../server/methods/kl/k1.ts";
import { k2 } from "../../../../server/methods/kl/k2.ts";
import { k3 } from "../../../../server/methods/kl/k3.ts";
import { made, near } from "../../support.ts";

const logp = fc.double({ min: -6, max: 0, noNaN: true });

test("k1, k2 and k3 by hand at log π = −1, log π_ref = −1.5", () => {
  const [value, other] = [-1, -1.5];
  assert.equal(made(k1, {}).value(value, other), 0.5);
  assert.equal(made(k2, {}).value(value, other), 0.125);
  assert.ok(near(made(k3, {}).value(value, other), Math.exp(-0.5) + 0.5 - 1));
});

test("each slope is the derivative of its value", () => {
  for (const method of [k1, k2, k3]) {
    const estimator = made(method, {});
    fc.assert(
      fc.property(logp, logp, (own, other) => {
        const h = 1e-5;
        return near(
          (estimator.value(own + h, other) - estimator.value(own - h, other)) / (2 * h),
          estimator.slope(own, other),
          1e-5,
        );
      }),
    );
  }
});

test("on policy, k1 and k3 have the exact divergence as their mean, and k3 is never negative", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 4, maxLength: 4 }),
      (logits) => {
        const soft = (list: readonly number[]): number[] =>
          list.map((x) => x - Math.log(list.reduce((sum, y) => sum + Math.exp(y), 0)));
        const [own, other] = [soft(logits), soft([0.3, -0.2, 0, 0.5])];
        const exact = own.reduce((sum, lp, i) => sum + Math.exp(lp) * (lp - other[i]!), 0);
        return (
          [k1, k3].every((method) =>
            near(
              own.reduce((sum, lp, i) => sum + Math.exp(lp) * made(method, {}).value(lp, other[i]!), 0),
              exact,
              1e-9,
            ),
          ) && own.every((lp, i) => made(k3, {}).value(lp, other[i]!) >= 0)
        );
      },
    ),
  );
});
