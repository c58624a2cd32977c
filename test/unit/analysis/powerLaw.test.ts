/** α·X^β over runs: the fit on points that lie on one, the gap at X = 1, and what cannot be fitted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { powerLaw, powerLawOf } from "../../../server/analysis/compare/powerLaw.ts";
import { powerLawLines } from "../../../server/cli/runs/comparing/powerLawText.ts";
import { near } from "../support.ts";

const law = (x: number): number => 0.2 * x ** 0.3;
const on = (...xs: readonly number[]) => xs.map((x) => ({ x, y: law(x) }));

test("points on a power law give its numbers back; a point of 0 has no logarithm", () => {
  const found = powerLaw([...on(1, 2, 4, 7), { x: 3, y: 0 }]);
  assert.ok(near(found?.alpha, 0.2) && near(found?.beta, 0.3) && near(found?.r_squared ?? 0, 1));
  // By hand: ln y = 0, ln 4, ln 4 at ln x = 0, ln 2, ln 4: β = 1, α = 4^(2/3)/2, half of a residual each way.
  const rough = powerLaw([
    { x: 1, y: 1 },
    { x: 2, y: 4 },
    { x: 4, y: 4 },
  ]);
  assert.ok(
    near(rough?.beta, 1) && near(rough?.alpha, 4 ** (2 / 3) / 2) && near(rough?.r_squared ?? 0, 0.75),
  );
  assert.equal(powerLaw(on(2, 2)), undefined);
  assert.equal(
    powerLaw([
      { x: 1, y: 0.5 },
      { x: 2, y: 0 },
    ]),
    undefined,
  );
});

const compared = (values: readonly number[], y: readonly (number | null)[]) => ({
  config: [
    {
      path: "tasks.sums.forms",
      values: values.map((count) => ({ value: Array<string>(count).fill("f"), by: "file" as const })),
    },
  ],
  groups: values.map((_, i) => ({ label: String(i), runs: [i] })),
  series: [
    {
      metric: "eval/pass@1",
      groups: y.map((mean, group) => ({
        ...{ group, steps: [1, 2], n: [1, 1], spread: [null, null], error: [null, null] },
        mean: [0, mean],
      })),
    },
  ],
});

test("of runs X is the length of a list that they differ in, and the gap is at X = 1", () => {
  const found = powerLawOf(compared([4, 1, 2], [law(4), 0.15, law(2)]), "tasks.sums.forms", "eval/pass@1");
  assert.deepEqual(
    found.points.map(({ x }) => x),
    [1, 2, 4],
  );
  assert.ok(near(found.gap ?? 0, 0.2 - 0.15, 1e-9));
  assert.match(powerLawLines(found).join("\n"), /Without X = 1 the fit says 0\.050 more than was reached/);
  const none = powerLawOf(compared([1, 2], [0, 0]), "tasks.sums.forms", "eval/pass@1");
  assert.deepEqual([none.fit, none.gap], [null, null]);
  assert.match(powerLawLines(none).join("\n"), /There is no fit/);
  assert.throws(() => powerLawOf(compared([1, 2], [0, 0]), "seed", "eval/pass@1"), /do not differ in seed/);
  assert.throws(() => powerLawOf(compared([1, 2], [0, 0]), "tasks.sums.forms", "nope"), /No run has both/);
});
