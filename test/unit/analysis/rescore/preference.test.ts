/** Preference accuracy against its definition: pairs of a success and a failure, counted one by one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { preferenceOf, type Outcome } from "../../../../server/analysis/rescore/preference.ts";
import { randomStream } from "../../../../server/lib/random.ts";

const stream = () => randomStream(1, "preference");

/** `groups` groups of eight; a success is worth `more` than a failure, on values from 0 to 9. */
function made(groups: number, more: number): Outcome[] {
  const random = randomStream(7, "made", more);
  return Array.from({ length: groups * 8 }, (_, i) => {
    const success = random.integer(3) === 0;
    return { value: random.integer(10) + (success ? more : 0), success, group: Math.floor(i / 8) };
  });
}

interface Counted {
  readonly pairs: number;
  readonly accuracy: number;
  readonly tied: number;
}

function counted(outcomes: readonly Outcome[], withinGroups: boolean): Counted {
  let [pairs, right, tied] = [0, 0, 0];
  for (const won of outcomes.filter(({ success }) => success))
    for (const lost of outcomes.filter(({ success }) => !success)) {
      if (withinGroups && won.group !== lost.group) continue;
      pairs += 1;
      if (won.value > lost.value) right += 1;
      if (won.value === lost.value) tied += 1;
    }
  return { pairs, accuracy: (right + tied / 2) / pairs, tied: tied / pairs };
}

describe("preference accuracy", () => {
  for (const more of [0, 2, -3, 20])
    it(`is the share of pairs ranked right, ties half, where a success is worth ${more} more`, () => {
      const outcomes = made(20, more);
      const { within, all } = preferenceOf(outcomes, stream());
      for (const [found, own] of [
        [within, counted(outcomes, true)],
        [all, counted(outcomes, false)],
      ] as const) {
        assert.ok(found?.interval != null);
        assert.equal(found.pairs, own.pairs);
        assert.ok(Math.abs(found.accuracy - own.accuracy) < 1e-12);
        assert.ok(Math.abs(found.tied - own.tied) < 1e-12);
        assert.ok(found.interval.low <= found.accuracy && found.accuracy <= found.interval.high);
      }
      if (more === 20) assert.deepEqual(all?.interval, { low: 1, high: 1 });
    });

  it("has intervals that hold the truth about as often as they say", () => {
    // With no difference the truth is one half.
    const held = Array.from({ length: 60 }, (_, seed) => {
      const random = randomStream(seed, "null");
      const outcomes = Array.from({ length: 320 }, (_, i): Outcome => ({
        value: random.next(),
        success: random.next() < 0.4,
        group: Math.floor(i / 8),
      }));
      const { interval } = preferenceOf(outcomes, randomStream(seed, "draws")).within!;
      return interval!.low <= 0.5 && interval!.high >= 0.5;
    }).filter(Boolean).length;
    assert.ok(held >= 50, `${held} of 60 hold it`);
  });

  it("counts successes above every failure, as CARD's check does", () => {
    const of = (value: number, success: boolean, group = 0): Outcome => ({ value, success, group });
    const outcomes = [of(5, true), of(2, true), of(3, true), of(1, true), of(2, false), of(0, false)];
    assert.equal(preferenceOf(outcomes, stream()).above_failures, 2 / 4, "a tie is not above");
    assert.equal(preferenceOf(outcomes.slice(0, 4), stream()).above_failures, null);
  });

  it("says nothing of pairs that are not there, and no interval of few groups", () => {
    const alone = [0, 1, 2].flatMap((group): Outcome[] => [
      { value: group, success: group > 0, group },
      { value: group, success: group > 0, group },
    ]);
    const { within, all } = preferenceOf(alone, stream());
    assert.equal(within, null);
    assert.deepEqual(all, { pairs: 8, accuracy: 1, tied: 0, interval: null });
  });

  it("takes sums that rounding alone tells apart for equal", () => {
    const { all } = preferenceOf(
      [
        { value: 0.1 + 0.2, success: true, group: 0 },
        { value: 0.3, success: false, group: 0 },
      ],
      stream(),
    );
    assert.equal(all?.tied, 1);
  });
});
