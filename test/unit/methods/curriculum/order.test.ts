import assert from "node:assert/strict";
import { test } from "node:test";
import { ranked, rankedBy } from "../../../../server/lib/ordering.ts";
import { randomStream } from "../../../../server/lib/random.ts";

const special = [Number.NaN, -0, 0, Infinity, -Infinity, 5e-324, -5e-324, 1e308, -1e308, -1, 1];

test("ranks are those of a comparison: NaN last, both zeros alike, equal keys as they stood", () => {
  const random = randomStream("ranks");
  const any = (): number =>
    random.next() < 0.5
      ? special[random.integer(special.length)]!
      : (random.next() - 0.5) * 10 ** random.integer(9);
  const keys = [0, 1, 2].map((which) =>
    Float64Array.from({ length: 3000 }, () => (which < 2 ? random.integer(4) : any())),
  );
  const compare = (a: number, b: number): number => {
    if (a === b) return 0;
    return Number.isNaN(a) || Number.isNaN(b)
      ? Number(Number.isNaN(a)) - Number(Number.isNaN(b))
      : a < b
        ? -1
        : 1;
  };
  const numbers = Array.from({ length: 3000 }, (_, at) => at);
  const expected = numbers.toSorted((a, b) => {
    for (const key of keys) {
      const order = compare(key[a]!, key[b]!);
      if (order !== 0) return order;
    }
    return a - b;
  });
  assert.deepEqual([...rankedBy(keys, 3000)], expected);
  assert.deepEqual([...rankedBy(keys, 0)], []);
  assert.deepEqual(
    [...ranked(Float64Array.from(special))].map((at) => special[at]),
    [-Infinity, -1e308, -1, -5e-324, -0, 0, 5e-324, 1, 1e308, Infinity, Number.NaN],
  );
});
