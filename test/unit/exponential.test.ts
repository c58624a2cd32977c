import assert from "node:assert/strict";
import { test } from "node:test";
import { exp, expm1, log } from "../../server/lib/exponential.ts";
import { randomStream } from "../../server/lib/random.ts";

test("exponentials that are written out differ from the engine's by a unit in the last place at most", () => {
  const random = randomStream(1, "exponential");
  for (let k = 0; k < 200_000; k++) {
    const x = (random.next() - 0.5) * 10 ** -random.integer(9) * 2;
    for (const [own, known] of [
      [exp(x), Math.exp(x)],
      [expm1(x), Math.expm1(x)],
    ] as const)
      assert.ok(Math.abs(own - known) <= 2.3e-16 * Math.abs(known), `${x}: ${own}, not ${known}`);
  }
});

test("a logarithm that is written out differs from the engine's by a unit in the last place at most", () => {
  const random = randomStream(1, "logarithm");
  for (let k = 0; k < 200_000; k++) {
    const x = 1 + (random.next() - 0.45) * 10 ** -random.integer(9);
    const known = Math.log(x);
    assert.ok(Math.abs(log(x) - known) <= 2.3e-16 * Math.abs(known), `${x}: ${log(x)}, not ${known}`);
  }
  for (const x of [0, 1, 0.7, 1.4, 1e-300, 1e300, -1, Number.POSITIVE_INFINITY, Number.NaN])
    assert.equal(log(x), Math.log(x));
});

test("beyond them, and where there is no number, they are the engine's", () => {
  for (const x of [0, -0, 30, -30, 800, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN]) {
    assert.equal(exp(x), Math.exp(x));
    assert.equal(expm1(x), Math.expm1(x));
  }
});
