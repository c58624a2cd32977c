/** A bound that only a loop gone wrong breaks: the real measurement is `npm run bench -- math`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { computeStep, mathStep } from "../../../bench/mathBatch.ts";
import { configOf } from "../support.ts";

test("half a million tokens go from rewards to derivatives within a second, without an object a token", () => {
  const { top } = configOf(
    `tasks: [{ env: countdown }]
reward: { terms: { right: { use: equation } } }
objective: { use: clipped, aggregate: token_mean }
kl: [{ model: reference, estimator: k3, coefficient: 0.04 }]
`,
  );
  const step = mathStep(top, 1024, 512);
  computeStep(step);
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  const loss = computeStep(step);
  assert.ok(performance.now() - start < 1000, `${performance.now() - start} ms`);
  assert.ok(Number.isFinite(loss) && loss !== 0);
  // Columns are outside of the heap: an object a token would be tens of megabytes.
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 8e6, `the heap grew by ${Math.round(grown / 1e6)} MB`);
});
