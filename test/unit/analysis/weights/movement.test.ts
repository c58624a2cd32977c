/** Which weights moved: bfloat16 by written-out cases, planted changes, masks and their overlap. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { maskCounts, maskOverlaps } from "../../../../server/analysis/weights/masks.ts";
import {
  bfloat16,
  bitsOf,
  movementOf,
  seenApart,
  together,
} from "../../../../server/analysis/weights/movement.ts";
import { overlapsOf, sharedMasks } from "../../../../server/analysis/weights/overlap.ts";
import { movedOf } from "../../../../server/analysis/weights/summary.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { spectrum } from "../../../../server/lib/algebra/spectrum.ts";

test("a number is rounded to the nearest bfloat16, to the even one of two that are as near", () => {
  const cases: readonly [bits: number, rounded: number][] = [
    [0x3f800000, 0x3f80], // 1
    [0x3f807fff, 0x3f80], // below the half
    [0x3f808000, 0x3f80], // the half: down to the even one
    [0x3f808001, 0x3f81], // above the half
    [0x3f818000, 0x3f82], // the half: up to the even one
    [0x3fffffff, 0x4000], // into the next power of two
    [0xbf818000, 0xbf82], // the same below zero
    [0x00008000, 0x0000], // subnormal, the half
    [0x7f7fffff, 0x7f80], // beyond the largest: infinity
    [0x7f800000, 0x7f80],
    [0x7f800001, 0x7fc0], // NaN stays NaN
  ];
  for (const [bits, rounded] of cases)
    assert.equal(bfloat16(bits).toString(16), rounded.toString(16), bits.toString(16));
  const [zero, negative, one] = bitsOf(Float32Array.of(0, -0, 1));
  assert.ok(!seenApart(zero!, negative!));
  assert.ok(seenApart(zero!, one!));
});

test("of numbers stored in bfloat16, two are seen apart where |a − b| > η max(|a|, |b|) with η = 1e-3", () => {
  const random = randomStream("eta");
  const stored = (bits: number): number => new Float32Array(Uint32Array.of(bits << 16).buffer)[0]!;
  for (let i = 0; i < 2000; i++) {
    const bits = 0x3c00 + random.integer(0x400);
    const [a, b] = [stored(bits), stored(bits + random.integer(2))];
    const rule = Math.abs(a - b) > 1e-3 * Math.max(Math.abs(a), Math.abs(b));
    const [one, other] = bitsOf(Float32Array.of(a, b));
    assert.equal(seenApart(one!, other!), rule);
  }
});

test("a planted change is counted: how many moved, how many of these bfloat16 shows, and how far", () => {
  const before = new Float32Array(100).fill(1);
  const after = before.slice();
  after.fill(1.25, 0, 7);
  after.fill(1.001, 7, 12); // Between 1 and 1 + 2⁻⁷: bfloat16 has nothing there.
  after.fill(1 + 2 ** -20, 12, 30); // Less than 1e-5.
  const found = movementOf(before, after);
  assert.deepEqual([found.moved, found.visible, found.parameters], [12, 7, 100]);
  const { moved, visible, change } = movedOf(together([found, movementOf(before, before)]));
  assert.deepEqual([moved, visible], [0.06, 0.035]);
  const squares = 7 * 0.25 ** 2 + 5 * (Math.fround(1.001) - 1) ** 2 + 18 * 2 ** -40;
  assert.ok(Math.abs(change! - Math.sqrt(squares / 200)) < 1e-12);
  assert.equal(movedOf(movementOf(new Float32Array(3), after.slice(0, 3))).change, null);
});

test("weights of a small size that move are told from those of the largest part of a matrix", () => {
  // Rank one, 4 × 4: rows 0 and 1 are large, and one large number lies outside of it.
  const [rows, columns] = [4, 4];
  const before = Float32Array.from({ length: 16 }, (_, i) => (i < 8 ? 8 + (i % 2) : 0.25 + 0.01 * i));
  const of = spectrum({ rows, columns, values: before }, 1);
  const after = before.slice();
  for (const at of [12, 13, 14, 3]) after[at]! *= 1.5;
  const counts = maskCounts(before, after, of, { rows, columns, share: 0.5 });
  const { principal, low_magnitude, largest_magnitude, principal_not_low } = maskOverlaps([counts]);
  assert.deepEqual(principal, { overlap: 0.25, expected: 0.5 });
  assert.deepEqual(low_magnitude, { overlap: 0.75, expected: 0.5 });
  assert.deepEqual(largest_magnitude, { overlap: 0.25, expected: 0.5 });
  assert.deepEqual(principal_not_low, { overlap: 0.25, expected: 0.5 });
  const same = maskCounts(before, before, of, { rows, columns, share: 0.5 });
  assert.deepEqual(maskOverlaps([same]).principal, { overlap: null, expected: null });
});

test("a small weight can be principal: what is both is left out of the fourth mask", () => {
  // Kept: (1, 1, 1)ᵀ (2, 2, 0.1). The middle number of the first column is taken away by what is not kept.
  const [rows, columns] = [3, 3];
  const before = Float32Array.from([2, 2, 0.1, 0, 2, 0.1, 2, 2, 0.1]);
  const of = spectrum({ rows, columns, values: before }, 1);
  const after = before.slice();
  after[3] = 0.5;
  const counts = maskCounts(before, after, of, { rows, columns, share: 4 / 9 });
  const wide = maskCounts(before, after, of, { rows, columns, share: 6 / 9 });
  assert.equal(counts.low_magnitude.both, 1);
  assert.equal(wide.principal.both, 1);
  assert.equal(wide.principal_not_low.both, 0);
});

test("masks of two changes from one base: Jaccard, and what chance gives for masks of their sizes", () => {
  const base = new Float32Array(100).fill(0.5);
  const [a, b] = [base.slice(), base.slice()];
  a.fill(1, 0, 40);
  b.fill(1, 30, 50);
  b.fill(0.5001, 90, 100); // Moved, but not seen.
  const { moved, visible } = overlapsOf([sharedMasks(base, a, b)]);
  assert.deepEqual(visible, {
    jaccard: 10 / 50,
    jaccard_expected: (0.4 * 0.2) / (0.4 + 0.2 - 0.4 * 0.2),
    of_a: 10 / 40,
    of_b: 10 / 20,
    share_a: 0.4,
    share_b: 0.2,
  });
  assert.equal(moved.share_b, 0.3);
  assert.equal(moved.jaccard, 10 / 60);
  assert.equal(overlapsOf([sharedMasks(base, base, base)]).moved.jaccard, null);
});
