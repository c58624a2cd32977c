/** The chances of samplers that compare a few candidates, against counting, against integrals and against their draws. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { curriculumLines } from "../../../../server/cli/text/curriculumText.ts";
import { beta } from "../../../../server/lib/distributions.ts";
import { bandSampler } from "../../../../server/methods/curriculum/samplers/band.ts";
import { nearest } from "../../../../server/methods/curriculum/samplers/nearest.ts";
import { thompson } from "../../../../server/methods/curriculum/samplers/thompson.ts";
import type { ArmPool, FastSampler } from "../../../../server/core/slots/fastArms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { chiSquare, clock, curriculumOf, poolOf, sampling } from "./support.ts";

type Shapes = readonly [number, number];

const believing = (shapes: readonly Shapes[], more: Parameters<typeof poolOf>[1] = {}): ArmPool =>
  poolOf(
    shapes.map(([a, b]) => a / (a + b)),
    { shapes: (arm) => shapes[arm]!, draw: (arm, random) => beta(...shapes[arm]!, random), ...more },
  );

/** The 0.9999 quantile of χ², by Wilson and Hilferty. */
const rare = (freedom: number): number =>
  freedom * (1 - 2 / (9 * freedom) + 3.72 * Math.sqrt(2 / (9 * freedom))) ** 3;

const drawn = (sampler: FastSampler, known: ArmPool, count: number): number[] =>
  Array.from({ length: count }, (_, i) => sampler.draw(known, 1, randomStream("drawn", i), clock, [])[0]!);

/** Every set of so many arms. */
function* sets(arms: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) return yield [];
  for (const [i, arm] of arms.entries())
    for (const rest of sets(arms.slice(i + 1), size - 1)) yield [arm, ...rest];
}

test("nearest: the chances are those of all sets of candidates, equal ones alike", () => {
  const values = [0.1, 0.5, 0.9, undefined, 0.55, 0.45, 0.3];
  const open = [0, 1, 2, 3, 5, 6];
  const known = poolOf(values, { once: true, isOpen: (arm) => open.includes(arm) });
  const cost = (arm: number): number => Math.abs((values[arm] ?? 0.5) - 0.5);
  for (const pool of [1, 3, 4, 20]) {
    const size = Math.min(pool, open.length);
    const expected = new Float64Array(values.length);
    const all = [...sets(open, size)];
    for (const set of all) {
      const first = set.filter((arm) => cost(arm) === Math.min(...set.map(cost)));
      for (const arm of first) expected[arm]! += 1 / first.length / all.length;
    }
    const sampler = sampling(nearest, { pool });
    sampler
      .probabilities(known, clock)
      .forEach((p, arm) => assert.ok(Math.abs(p - expected[arm]!) < 1e-12, `pool ${pool}, arm ${arm}`));
    assert.equal(sampler.simulated?.(), 0);
  }
});

test("nearest with repeats: one minus powers of the arms that are no nearer", () => {
  const p = sampling(nearest, { pool: 3 }).probabilities(poolOf([0.5, 0.6, 0.4, 0.9]), clock);
  const none = [1, 0.75, 0.25, 0].map((share) => share ** 3);
  [none[0]! - none[1]!, (none[1]! - none[2]!) / 2, (none[1]! - none[2]!) / 2, none[2]!].forEach(
    (share, arm) => assert.ok(Math.abs(p[arm]! - share) < 1e-12),
  );
});

test("nearest among a million arms is counted out, and sums to 1", () => {
  const size = 1_000_000;
  const known = poolOf([], {
    size,
    estimates: Float64Array.from({ length: size }, (_, arm) => (arm % 1000) / 1000),
    once: true,
  });
  const p = sampling(nearest, { target: 0.5, pool: 4 }).probabilities(known, clock);
  assert.ok(Math.abs(p.reduce((sum, one) => sum + one, 0) - 1) < 1e-9);
  assert.ok(p[500]! > p[501]! && p[501]! > p[999]!);
});

/** Of uniform arms and one of density 2x, all compared: which is nearest ½ depends on nothing but |x − ½|, alike in both. */
test("thompson: what lies alike around the target is drawn alike, whatever else is believed", () => {
  const p = sampling(thompson, { target: 0.5, pool: 3 }).probabilities(
    believing([
      [1, 1],
      [2, 1],
      [1, 2],
    ]),
    clock,
  );
  for (const share of p) assert.ok(Math.abs(share - 1 / 3) < 1e-9);
});

test("thompson: integrals that can be written down, to 1e-9", () => {
  // Target 0: the least of U and of the root of U is taken. P(U < √V) = 2/3.
  const known = believing(
    [
      [1, 1],
      [2, 1],
    ],
    { once: true },
  );
  const low = sampling(thompson, { target: 0, pool: 8 }).probabilities(known, clock);
  assert.ok(Math.abs(low[0]! - 2 / 3) < 1e-9);
  // Target 1: the largest. Of Beta(a, 1) and Beta(b, 1) the first is larger with a/(a + b).
  for (const [a, b] of [
    [3, 5],
    [0.3, 7],
    [400, 20],
  ] as const) {
    const high = sampling(thompson, { target: 1, pool: 2 }).probabilities(
      believing(
        [
          [a, 1],
          [b, 1],
        ],
        { once: true },
      ),
      clock,
    );
    assert.ok(Math.abs(high[0]! - a / (a + b)) < 1e-9, `${a}, ${b}: ${high[0]}`);
  }
});

test("band: what lies in it is first in turn, to 1e-9", () => {
  // A uniform arm is in [0, ½] half of the time; one of density 2x a quarter. Both in: either. Both out: the lower one.
  const known = believing(
    [
      [1, 1],
      [2, 1],
    ],
    { once: true },
  );
  const p = sampling(bandSampler, { low: 0, high: 0.5, pool: 2 }).probabilities(known, clock);
  // Both out: ∫ over x from ½ to 1 of (1 − x²) dx = 5/24.
  assert.ok(Math.abs(p[0]! - (0.5 * 0.25 * 0.5 + 0.5 * 0.75 + 5 / 24)) < 1e-9, `${p[0]}`);
});

const hard: readonly Shapes[] = [
  [1, 1],
  [1, 1],
  [1, 1],
  [9, 1],
  [1, 9],
  [30, 35],
  [0.5, 2.3],
  [400, 500],
  [5000, 4000],
];

test("the chances are those of the draws (χ² of 8,000), with and without repeats, of closed arms nothing", () => {
  for (const once of [true, false])
    for (const sampler of [
      sampling(thompson, { target: 0.5, pool: 3 }),
      sampling(thompson, { target: 0.3, pool: 5 }),
      sampling(bandSampler, { low: 0.3, high: 0.7, pool: 3 }),
      sampling(bandSampler, { low: 0.05, high: 0.6, pool: 20 }),
      sampling(bandSampler, { imagined: false, pool: 2 }),
      sampling(nearest, { pool: 2 }),
    ]) {
      const known = believing(hard, { once, isOpen: (arm) => arm !== 1 });
      const p = sampler.probabilities(known, clock);
      assert.equal(sampler.simulated?.(), 0);
      assert.equal(p[1], 0);
      assert.ok(Math.abs(p.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
      assert.ok(Math.abs(p[0]! - p[2]!) < 1e-12, "arms of one belief are drawn alike");
      const chi = chiSquare(drawn(sampler, known, 8_000), p);
      assert.ok(chi < rare(7), `χ² = ${chi}`);
    }
});

test("three hundred arms are integrated to a sum of 1", () => {
  const random = randomStream("arms");
  const shapes = Array.from({ length: 300 }, (): Shapes => [1 + 40 * random.next(), 1 + 40 * random.next()]);
  for (const once of [true, false]) {
    const sampler = sampling(thompson, {});
    const p = sampler.probabilities(believing(shapes, { once }), clock);
    assert.equal(sampler.simulated?.(), 0);
    assert.ok(Math.abs(p.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
  }
});

test("what cannot be integrated is counted of draws, and says of how many and how sure it is", () => {
  const { posterior, ...pool } = believing(hard);
  const { shapes: _, ...unshaped } = posterior!;
  const known = { ...pool, posterior: unshaped };
  const sampler = sampling(thompson, {});
  sampler.probabilities(known, clock);
  assert.equal(sampler.simulated?.(), 1000);

  const curriculum = curriculumOf(
    "{ arms: task, signal: success_rate, estimator: beta, sampler: { use: thompson, pool: 129 } }",
  );
  const p = curriculum.probabilities(clock);
  assert.equal(curriculum.simulatedDraws, 1000);
  const lines = curriculumLines([
    {
      ...{ step: 1, estimates: {}, admitted: [], stage: "main" },
      probabilities: { a: p[0]!, b: p[1]! },
      simulated: { draws: 1000, standard_error: 0.0158 },
    },
  ]);
  assert.match(
    stripVTControlCharacters(lines.join("\n")),
    /chances are estimated from 1,000 simulated draws: standard error up to 1\.6 points/,
  );
});
