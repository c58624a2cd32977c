import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, pairedInterval } from "../../../../server/analysis/verdict/heldOut.ts";
import { normalQuantile, shareDifference } from "../../../../shared/lib/proportions.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { chance, evaluation } from "./support.ts";

test("quantiles of the normal distribution, as tables give them", () => {
  for (const [tail, z] of [
    [0.5, 0],
    [0.05, 1.6449],
    [0.025, 1.96],
    [0.005, 2.5758],
    [0.0005, 3.2905],
  ] as const)
    assert.ok(Math.abs(normalQuantile(tail) - z) < 5e-4, `${tail}`);
});

test("Newcombe's interval is that of his paper's example", () => {
  // 9 of 10 against 3 of 10, method 10.
  const { low, high } = shareDifference(3 / 10, 9 / 10, 10, 1.959964);
  assert.ok(Math.abs(low - 0.1705) < 5e-4, `${low}`);
  assert.ok(Math.abs(high - 0.809) < 5e-4, `${high}`);
});

test("pairs tell more than two means, and later looks ask for more", () => {
  const [first, later] = [evaluation(-1, chance(0.3)), evaluation(19, chance(0.33))];
  const paired = compare(first, later, 1, 400)!.interval!;
  const { results: _, ...bare } = later;
  const alone = compare(first, bare, 1, 400)!.interval!;
  const tenth = compare(first, later, 10, 400)!.interval!;
  const width = ({ low, high }: { low: number; high: number }): number => high - low;
  assert.ok(width(paired) < width(alone));
  assert.ok(width(tenth) > 1.3 * width(paired));
  assert.equal(compare(first, bare, 1, null)!.interval, null);
});

test("few tasks that agree are not certain", () => {
  const { low, high } = pairedInterval(new Array<number>(20).fill(0), 1.96);
  assert.ok(low < -0.1 && high > 0.1);
  const many = pairedInterval(new Array<number>(1000).fill(0), 1.96);
  assert.ok(many.high < 0.03);
});

test("with no effect, twenty looks together are wrong in at most one run of twenty", () => {
  const random = randomStream(7, "looks");
  const runs = 120;
  let wrong = 0;
  for (let run = 0; run < runs; run++) {
    const rates = Array.from({ length: 150 }, () => random.next());
    const answer = (): ((task: number) => number) => (task) =>
      [0, 1, 2, 3].filter(() => random.next() < (rates[task] ?? 0)).length;
    const first = evaluation(-1, answer());
    for (let look = 1; look <= 20; look++) {
      const { low, high } = compare(first, evaluation(look * 10, answer()), look, null)!.interval!;
      if (low <= 0 && high >= 0) continue;
      wrong += 1;
      break;
    }
  }
  assert.ok(wrong / runs <= 0.05, `${wrong} of ${runs}`);
});
