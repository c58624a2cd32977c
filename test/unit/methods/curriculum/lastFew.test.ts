import assert from "node:assert/strict";
import { test } from "node:test";
import { LastFew } from "../../../../server/methods/curriculum/lastFew.ts";
import { randomStream } from "../../../../server/lib/random.ts";

const all = (kept: LastFew): number[][] => [0, 1, 2, 3, 40].map((arm) => [...kept.of(arm)]);

for (const size of [1, 3])
  test(`of each arm the last ${size} are kept, the oldest first, also through what is saved`, () => {
    const lists = new Map<number, number[]>();
    let kept = new LastFew(size);
    const random = randomStream("few", size);
    for (let i = 0; i < 200; i++) {
      const arm = [0, 1, 3, 40][random.integer(4)]!;
      kept.push(arm, i);
      lists.set(arm, [...(lists.get(arm) ?? []), i].slice(-size));
      const expected = [0, 1, 2, 3, 40].map((one) => lists.get(one) ?? []);
      assert.deepEqual(all(kept), expected);
      if (i % 20 !== 7) continue;
      const saved = kept.save();
      kept = new LastFew(size);
      kept.load(saved);
      assert.deepEqual(all(kept), expected);
      const before = new LastFew(size);
      before.load({ json: [...lists] });
      assert.deepEqual(all(before), expected, "lists, as earlier versions saved them");
    }
    assert.equal(kept.of(2).length, 0);
  });
