/** Numbers that move over steps, against the formulas of their shapes and of the papers that use them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { scheduleSchema, valueAt } from "../../../server/core/schedule.ts";
import { near } from "../support.ts";

const of =
  (written: object): ((step: number) => number) =>
  (step) =>
    valueAt(scheduleSchema.parse(written), { step, stageStep: 0 });

test("ZeroSearch: the share of noise is p_s + (bᵗ − 1)/(b − 1)·(p_e − p_s), b = 4, from 0 to 0.5", () => {
  const noise = of({ schedule: "exponential", from: 0, to: 0.5, over: 200, base: 4 });
  for (let step = 0; step <= 200; step += 10)
    assert.ok(near(noise(step), ((4 ** (step / 200) - 1) / 3) * 0.5), `${step}`);
  assert.deepEqual([noise(0), noise(200), noise(1000)], [0, 0.5, 0.5], "both ends are met exactly");
  assert.ok(near(noise(100), 1 / 6), "a third of the way in half of the time");
  const between = of({ schedule: "exponential", from: 0.25, to: 0.75, over: 10, base: 4 });
  assert.ok(near(between(5), 0.25 + 0.5 / 3), "also where both ends have one sign");
});

test("a base of 1 is a straight line, and those near it are near to it; below 1 the change comes early", () => {
  const at = (base: number): number => of({ schedule: "exponential", from: 0, to: 1, over: 10, base })(3);
  assert.equal(at(1), 0.3);
  for (const base of [1 - 1e-9, 1 + 1e-9]) assert.ok(near(at(base), 0.3, 1e-8));
  assert.ok(at(0.1) > 0.3 && at(10) < 0.3);
});

test("every shape begins at `from`, ends at `to`, stays there, and goes one way", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("linear", "cosine", "sigmoid", "exponential", "steps"),
      fc.double({ min: -5, max: 5, noNaN: true }),
      fc.double({ min: -5, max: 5, noNaN: true }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 20 }),
      (schedule, from, to, over, start) => {
        const value = of({ schedule, from, to, over, start });
        const values = Array.from({ length: start + over + 3 }, (_, step) => value(step));
        const falls = to < from;
        return (
          near(values[0], from, 1e-9) &&
          values.slice(start + over).every((one) => near(one, to, 1e-9)) &&
          values.every(
            (one, i) => i === 0 || (falls ? one <= values[i - 1]! + 1e-9 : one >= values[i - 1]! - 1e-9),
          )
        );
      },
    ),
  );
});

test("the shapes in between: half of the way at half of the time, equal ratios, jumps", () => {
  const ends = { from: 0.005, to: 0.001, over: 100 };
  for (const schedule of ["linear", "cosine", "sigmoid"])
    assert.ok(near(of({ schedule, ...ends })(50), 0.003));
  assert.ok(near(of({ schedule: "cosine", ...ends })(25), 0.001 + (0.004 * (1 + Math.SQRT1_2)) / 2));
  const ratios = of({ schedule: "exponential", ...ends });
  assert.ok(near(ratios(75) / ratios(50), ratios(50) / ratios(25)));
  const jumps = of({ schedule: "steps", from: 1, to: 0, over: 100, at: [0.25, 0.5] });
  assert.deepEqual([24, 25, 49, 50].map(jumps), [1, 0.5, 0.5, 0]);
});
