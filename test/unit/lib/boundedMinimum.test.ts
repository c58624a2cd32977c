import assert from "node:assert/strict";
import { test } from "node:test";
import { minimized, type Slope } from "../../../server/lib/boundedMinimum.ts";

/** Its minimum is at (1, 1), at the end of a bent valley. */
const rosenbrock = ([x = 0, y = 0]: readonly number[]): Slope => ({
  value: (1 - x) ** 2 + 100 * (y - x * x) ** 2,
  gradient: [-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)],
});
const everywhere = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
const close = (found: readonly number[], wanted: readonly number[]): void =>
  found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]!) < 1e-3, found.join(", ")));

test("the least value is found, within bounds or at them", () => {
  close(minimized(rosenbrock, [-1.2, 1], [everywhere, everywhere]), [1, 1]);
  // With x at most 0.5 the valley ends at x².
  close(minimized(rosenbrock, [-1.2, 1], [[-2, 0.5], everywhere]), [0.5, 0.25]);
  close(minimized(rosenbrock, [3, 3], [everywhere, [2, 4]]), [Math.SQRT2, 2]);
});

test("a start outside, and values that are not finite, are stepped back from", () => {
  const log = ([x = 0]: readonly number[]): Slope => ({ value: x - Math.log(x), gradient: [1 - 1 / x] });
  close(minimized(log, [-5], [[0.01, 100]]), [1]);
});
