/** The boundary report, against its definitions written out. */
import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { measuredBoundary } from "../../../../server/analysis/evaluation/measuredBoundary.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { MeasuredBoundary } from "../../../../shared/run/boundaryReport.ts";
import type { TaskResults } from "../../../../shared/run/taskResults.ts";
import { near } from "../../support.ts";

/** @param right of each task, by its id */
const results = (right: Readonly<Record<string, number>>, samples = 8): TaskResults => ({
  tasks: Object.keys(right),
  arms: Object.keys(right).map(() => "a"),
  samples: Object.keys(right).map(() => samples),
  right: Object.values(right),
  greedy: Object.keys(right).map(() => null),
});

const boundary = (own: TaskResults, other: TaskResults): MeasuredBoundary | undefined =>
  measuredBoundary(own, other, randomStream(1, "boundary"));

/** The share of all k-subsets of the samples that hold a right one. */
function byCounting(n: number, right: number, k: number): number {
  let [found, all] = [0, 0];
  for (let set = 0; set < 1 << n; set++) {
    const drawn = Array.from({ length: n }, (_, i) => (set >> i) & 1);
    if (drawn.reduce((sum, one) => sum + one, 0) !== k) continue;
    all++;
    if (drawn.some((one, i) => one === 1 && i < right)) found++;
  }
  return found / all;
}

describe("two models at the boundary", () => {
  it("finds where a planted pair of curves crosses", () => {
    // The trained one is sure of half of the tasks; the other has a little of all.
    const own = results({ a: 8, b: 8, c: 0, d: 0 });
    const other = results({ a: 2, b: 2, c: 2, d: 2 });
    const found = boundary(own, other)!;
    const curve = (right: readonly number[], k: number): number =>
      right.reduce((sum, one) => sum + byCounting(8, one, k), 0) / right.length;
    for (const { k, own: first, other: second } of found.curve) {
      assert.ok(near(first, curve([8, 8, 0, 0], k)), `k = ${k}`);
      assert.ok(near(second, curve([2, 2, 2, 2], k)), `k = ${k}`);
    }
    assert.deepEqual(
      found.curve.map(({ k }) => k),
      [1, 2, 4, 8],
    );
    const crossing = [1, 2, 3, 4, 5, 6, 7, 8].find((k) => curve([2, 2, 2, 2], k) > curve([8, 8, 0, 0], k));
    assert.equal(found.crossing, crossing);
    assert.ok(near(found.sampling_gap, 1 - 0.5));
    // Whoever is named first: the pair crosses in the same place.
    const turned = boundary(other, own)!;
    assert.deepEqual([turned.crossing, turned.sampling_gap], [found.crossing, found.sampling_gap]);
  });

  it("does not cross where both end alike, or one leads throughout", () => {
    assert.equal(boundary(results({ a: 8 }), results({ a: 4 }))!.crossing, null);
    assert.equal(boundary(results({ a: 4, b: 1 }), results({ a: 3, b: 1 }))!.crossing, null);
  });

  it("counts what is kept, found and lost as The Invisible Leash does", () => {
    const own = results({ a: 3, b: 1, c: 2, d: 0, e: 0, f: 0 });
    const other = results({ a: 1, b: 5, c: 0, d: 1, e: 1, f: 0 });
    const { support } = boundary(own, other)!;
    const { srr, ndr, sds, nscr, ...lists } = support;
    assert.deepEqual(lists, { preserved: ["a", "b"], expanded: ["c"], shrunk: ["d", "e"], unsolved: ["f"] });
    assert.ok(near(srr!, 2 / 4) && near(ndr!, 1 / 3) && near(nscr!, (1 - 2) / 5));
    assert.ok(near(sds!, 2 / (1 / (2 / 4) + 1 / (1 / 3))));
    const none = boundary(results({ a: 0 }), results({ a: 0 }))!.support;
    assert.deepEqual([none.srr, none.ndr, none.sds, none.nscr], [null, null, null, null]);
  });

  it("compares the tasks that both have, with all samples", () => {
    const own = results({ a: 1, b: 2, c: 0 });
    const other = { ...results({ c: 1, a: 0 }), samples: [8, 7] };
    const found = boundary(own, other)!;
    assert.deepEqual([found.tasks, found.samples, found.support.shrunk], [1, 8, ["c"]]);
    assert.equal(boundary(results({ a: 1 }), results({ z: 1 })), undefined);
    assert.equal(boundary(results({ a: 1 }, 1), results({ a: 1 }, 1)), undefined);
  });
});

test("a crossing is as sure as it is in draws of the tasks", () => {
  const ids = (count: number, right: (i: number) => number): TaskResults =>
    results(Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, right(i)])));
  const random = randomStream(1, "crossing");
  const planted = measuredBoundary(
    ids(80, (i) => (i % 2 === 0 ? 8 : 0)),
    ids(80, () => 2),
    random,
  )!.crossing_share;
  assert.ok(planted > 0.98, String(planted));
  // The two lead by one task each way: it is anybody's.
  const even = measuredBoundary(
    ids(20, (i) => (i === 0 ? 8 : 3)),
    ids(20, (i) => (i === 1 ? 7 : 3)),
    random,
  )!.crossing_share;
  assert.ok(even < 0.6, String(even));
});
