import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../server/lib/random.ts";

const draws = (n: number, ...key: (string | number)[]): number[] => {
  const random = randomStream(...key);
  return Array.from({ length: n }, () => random.next());
};

test("a stream is its key: equal keys give equal draws, however much others have drawn", () => {
  assert.deepEqual(draws(5, 1, "draw", 3), draws(5, 1, "draw", 3));
  assert.deepEqual(randomStream(1).fork("draw", 3).next(), randomStream(1, "draw", 3).next());
});

test("keys that differ in one part, or in its type, give other streams", () => {
  const firsts = [
    draws(1, 1, "a"),
    draws(1, 2, "a"),
    draws(1, 1, "b"),
    draws(1, 1, 0),
    draws(1, 1, "0"),
    draws(1, "1a"),
    draws(1, 1, "a", 0),
  ].flat();
  assert.equal(new Set(firsts).size, firsts.length);
});

test("draws are uniform: mean, variance and the share of each of ten integers", () => {
  const values = draws(20_000, "uniform");
  const mean = values.reduce((a, b) => a + b) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  assert.ok(Math.abs(mean - 0.5) < 0.01 && Math.abs(variance - 1 / 12) < 0.003);
  const random = randomStream("integers");
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 20_000; i++) counts[random.integer(10)]! += 1;
  assert.ok(counts.every((count) => Math.abs(count - 2000) < 200));
});

test("an impossible bound is an error", () => {
  for (const bound of [0, -1, 1.5, Number.NaN])
    assert.throws(() => randomStream(1).integer(bound), RangeError);
});
