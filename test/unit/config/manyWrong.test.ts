/** A config with thousands of wrong values costs a pass over it, not a new tree for each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { salvage } from "../../../server/config/check/salvage.ts";
import { Watch } from "../../../server/config/check/watched.ts";
import { mapNode } from "../../../server/config/text/node.ts";

test("where hundreds of values cannot be read, none is put aside and the tree is not looked at again", () => {
  let looks = 0;
  const origin = { file: "c.yaml", range: { start: 0, end: 0 } } as unknown as Parameters<typeof mapNode>[0];
  const wrong = Array.from({ length: 101 }, (_, i) => `tasks.t${i}.env`);
  const found = salvage(mapNode(origin, []), wrong, () => {
    looks += 1;
    return [];
  });
  assert.deepEqual([found, looks], [undefined, 0]);
});

test("a value concerns what was put aside where one holds the other, among any number of them", () => {
  const watch = new Watch(["reward.terms.a", "tasks.0", ...Array.from({ length: 1000 }, (_, i) => `u${i}`)]);
  const cases: Readonly<Record<string, boolean>> = {
    reward: true,
    "reward.terms": true,
    "reward.terms.a": true,
    "reward.terms.a.weight": true,
    "reward.terms.ab": false,
    "reward.terms.b": false,
    "tasks.0.env": true,
    "tasks.1": false,
    task: false,
    "": true,
    u999: true,
  };
  for (const [key, expected] of Object.entries(cases)) assert.equal(watch.concerns(key), expected, key);
  assert.equal(new Watch([]).concerns("reward"), false);
  assert.equal(new Watch([""]).concerns("reward"), true);
});
