import assert from "node:assert/strict";
import { test } from "node:test";
import { atLeast, excess } from "../../../../server/methods/objective/numbers.ts";
import { randomStream } from "../../../../server/lib/random.ts";

test("sums in the place of jumps: what is no less than a floor, and how far a number lies beyond a reach", () => {
  const random = randomStream(1, "numbers");
  for (let k = 0; k < 10_000; k++) {
    const [x, bound] = [4 * (random.next() - 0.5), 2 * random.next()];
    assert.ok(Math.abs(atLeast(x, bound) - Math.max(x, bound)) <= 1e-15);
    const beyond = x > bound ? x - bound : x < -bound ? x + bound : 0;
    assert.equal(excess(x, bound), beyond);
  }
  assert.equal(excess(0, 0), 0);
  assert.equal(excess(0.2, 0.2), 0);
  assert.ok(Number.isNaN(excess(Number.NaN, 1)) && Number.isNaN(atLeast(Number.NaN, 1)));
});
