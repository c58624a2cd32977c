/** Upper confidence bounds over many arms: drawn as the formula says, and the same whatever came before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ucbSoftmax } from "../../../../server/methods/curriculum/samplers/ucbSoftmax.ts";
import type { ArmPool, FastSampler } from "../../../../server/core/slots/fastArms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { chiSquare, clock, poolOf, sampling } from "./support.ts";
import { count } from "../../../support/thorough.ts";

const temperature = 0.2;

/** Arms with values and counts that change, and tell which did. */
class Pool {
  readonly values: number[];
  readonly seen: Float64Array;
  private news: Set<number> | undefined;

  constructor(readonly size: number) {
    const random = randomStream("pool");
    this.values = Array.from({ length: size }, () => random.next());
    this.seen = Float64Array.from({ length: size }, () => 8 * Math.max(0, random.integer(6) - 2));
  }
  change(arm: number, value: number, rollouts: number): void {
    this.values[arm] = value;
    this.seen[arm]! += rollouts;
    this.news?.add(arm);
  }
  known(closed: ReadonlySet<number> = new Set(), size = this.size): ArmPool {
    return poolOf(this.values.slice(0, size), {
      rollouts: this.seen.subarray(0, size),
      once: true,
      isOpen: (arm) => !closed.has(arm),
      closed,
      changed: () => {
        const news = this.news ?? "all";
        this.news = new Set();
        return news;
      },
    });
  }
  /** The formula, word for word. */
  probabilities(closed: ReadonlySet<number>): number[] {
    const all = this.seen.reduce((sum, n) => sum + n, 0);
    const weights = this.values.map((q, arm) =>
      closed.has(arm)
        ? 0
        : Math.exp((q + Math.sqrt((2 * Math.log(all + 1)) / (this.seen[arm]! + 1))) / temperature),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }
}

/** The 0.999 quantile of χ², nearly (Wilson and Hilferty, 1931). */
const quantile = (freedom: number): number =>
  freedom * (1 - 2 / (9 * freedom) + 3.0902 * Math.sqrt(2 / (9 * freedom))) ** 3;

const one = (sampler: FastSampler, known: ArmPool, ...key: readonly (string | number)[]): number =>
  sampler.draw(known, 1, randomStream(...key), clock, [])[0]!;

test("each of many arms comes as often as the formula says, while counts and values change", () => {
  const pool = new Pool(300);
  const sampler = sampling(ucbSoftmax, { temperature });
  for (const round of [0, 1, 2]) {
    one(sampler, pool.known(new Set([round])), "before", round);
    for (let arm = round; arm < 300; arm += 7) pool.change(arm, (arm * 0.618 + round) % 1, 8);
  }
  const closed = new Set([7, 256, 299]);
  const known = pool.known(closed);
  const drawn = Array.from({ length: count(20_000, 100_000) }, (_, i) => one(sampler, known, "ucb", i));
  const p = pool.probabilities(closed);
  assert.ok(p[5]! > 0 && p[256] === 0);
  const chi = chiSquare(drawn, p);
  assert.ok(chi < quantile(296), `χ² = ${chi}`);
});

test("two arms of one draw come with the odds of one after the other, without the first", () => {
  const pool = new Pool(5);
  const sampler = sampling(ucbSoftmax, { temperature });
  const p = pool.probabilities(new Set());
  const pairs = p.flatMap((first, a) => p.map((second, b) => (a === b ? 0 : (first * second) / (1 - first))));
  const known = pool.known();
  const drawn = Array.from({ length: 100_000 }, (_, i) => {
    const [a, b] = sampler.draw(known, 2, randomStream("pair", i), clock, []);
    return 5 * a! + b!;
  });
  const chi = chiSquare(drawn, pairs);
  assert.ok(chi < quantile(19), `χ² = ${chi}`);
});

test("what came before leaves no trace: the same arms as of a sampler that has just been loaded", () => {
  const pool = new Pool(3000);
  const lasting = sampling(ucbSoftmax, { temperature });
  const random = randomStream("changes");
  for (let step = 0; step < 60; step++) {
    const size = 2000 + Math.min(1000, 40 * step);
    const closed = new Set([random.integer(size), random.integer(size)]);
    const drawn = lasting.draw(pool.known(closed, size), 64, randomStream("draw", step), clock, []);
    const fresh = sampling(ucbSoftmax, { temperature });
    const told = pool.known(closed, size);
    assert.deepEqual(
      fresh.draw({ ...told, changed: () => "all" }, 64, randomStream("draw", step), clock, []),
      drawn,
    );
    assert.equal(new Set(drawn).size, 64);
    assert.ok(drawn.every((arm) => arm < size && !closed.has(arm)));
    for (const arm of drawn) pool.change(arm, random.next(), 8);
  }
});

// Over 1000 steps from 1: temperatures between those for which sums are kept.
const falling = { schedule: "linear", from: 1, to: 0.01, over: 1000 };
const late = { step: 793, stageStep: 793 };

test("where the temperature has a schedule, arms come as often as the formula says (100,000 draws, one and two)", () => {
  const tau = 1 - 0.99 * 0.793;
  const pool = new Pool(40);
  const sampler = sampling(ucbSoftmax, { temperature: falling });
  const all = pool.seen.reduce((sum, n) => sum + n, 0);
  const weights = pool.values.map((q, arm) =>
    Math.exp((q + Math.sqrt((2 * Math.log(all + 1)) / (pool.seen[arm]! + 1))) / tau),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const p = weights.map((weight) => weight / sum);
  const known = pool.known();
  const pairs = Array.from({ length: 100_000 }, (_, i) =>
    sampler.draw(known, 2, randomStream("falling", i), late, []),
  );
  const first = chiSquare(
    pairs.map(([arm]) => arm!),
    p,
  );
  assert.ok(first < quantile(39), `χ² = ${first}`);
  const second = p.map((share, arm) =>
    p.reduce((odds, one, a) => (a === arm ? odds : odds + (one * share) / (1 - one)), 0),
  );
  const then = chiSquare(
    pairs.map(([, arm]) => arm!),
    second,
  );
  assert.ok(then < quantile(39), `χ² = ${then}`);
});

test("with a schedule what came before leaves no trace either", () => {
  const pool = new Pool(700);
  const lasting = sampling(ucbSoftmax, { temperature: falling });
  for (let step = 0; step <= 960; step += 30) {
    const now = { step, stageStep: step };
    const known = pool.known();
    const drawn = lasting.draw(known, 16, randomStream("draw", step), now, []);
    const fresh = sampling(ucbSoftmax, { temperature: falling });
    assert.deepEqual(
      fresh.draw({ ...known, changed: () => "all" }, 16, randomStream("draw", step), now, []),
      drawn,
    );
    assert.equal(new Set(drawn).size, 16);
    for (const arm of drawn) pool.change(arm, (arm * 0.618 + step * 0.1) % 1, 8);
  }
});

test("a schedule that has come to 0 leaves the largest bounds, the best first", () => {
  const sampler = sampling(ucbSoftmax, {
    temperature: { schedule: "linear", from: 1, to: 0, over: 10 },
    exploration: 0,
  });
  const pool = new Pool(9);
  const best = pool.values.map((_, arm) => arm).sort((a, b) => pool.values[b]! - pool.values[a]!);
  assert.deepEqual(
    sampler.draw(pool.known(), 4, randomStream("cold"), { step: 10, stageStep: 10 }, []),
    best.slice(0, 4),
  );
});

test("values far apart leave no arm out: all open arms come, the best first", () => {
  const values = [1e9, -1e9, undefined, 3, 1e300];
  const closed = new Set([3]);
  const known = poolOf(values, {
    rollouts: Float64Array.of(8, 8, 0, 8, 800),
    once: true,
    isOpen: (arm) => !closed.has(arm),
    closed,
    changed: () => "all",
  });
  const sampler = sampling(ucbSoftmax, { temperature: 1e-3 });
  assert.deepEqual(sampler.draw(known, 9, randomStream("far"), clock, []), [4, 0, 2, 1]);
});
