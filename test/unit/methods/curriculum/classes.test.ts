/** Arms alike as one: the same draws as if each were looked at, whatever has happened to them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClassedArms } from "../../../../server/methods/curriculum/fast/armClasses.ts";
import { OrderedArms } from "../../../../server/methods/curriculum/fast/orderedArms.ts";
import { SumTree } from "../../../../server/methods/curriculum/fast/sumTree.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { ArmPool, FastSampler } from "../../../../server/core/slots/fastArms.ts";
import { boltzmann } from "../../../../server/methods/curriculum/samplers/boltzmann.ts";
import { expectedImprovement } from "../../../../server/methods/curriculum/samplers/expectedImprovement.ts";
import { gaussianWindow } from "../../../../server/methods/curriculum/samplers/mixtures/gaussianWindow.ts";
import { greedy } from "../../../../server/methods/curriculum/samplers/greedy.ts";
import { proportional } from "../../../../server/methods/curriculum/samplers/proportional.ts";
import { selfRepellent } from "../../../../server/methods/curriculum/samplers/selfRepellent.ts";
import { sorted } from "../../../../server/methods/curriculum/samplers/sorted.ts";
import { tiers } from "../../../../server/methods/curriculum/samplers/tiers.ts";
import { ucbSoftmax } from "../../../../server/methods/curriculum/samplers/ucbSoftmax.ts";
import { uniform } from "../../../../server/methods/curriculum/samplers/uniform.ts";
import { at, chiSquare, clock, curriculumOf, group, poolOf, sampling } from "./support.ts";
import { some } from "../../../support/thorough.ts";

test("an order of arms stays one while arms leave and come back with other keys", () => {
  const random = randomStream("order");
  const size = 5000;
  const keys = Float64Array.from({ length: size }, () => random.integer(40));
  const compare = (a: number, b: number): number => keys[a]! - keys[b]! || a - b;
  const arms = Int32Array.from({ length: size }, (_, arm) => arm).sort(compare);
  const order = new OrderedArms(arms, compare);
  for (let change = 0; change < 20_000; change++) {
    const arm = random.integer(size);
    order.remove(arm);
    keys[arm] = random.integer(change < 10_000 ? 40 : 3);
    order.add(arm);
  }
  const expected = [...arms].sort(compare);
  assert.equal(order.size, size);
  assert.deepEqual(
    expected.map((_, place) => order.at(place)),
    expected,
  );
  assert.deepEqual(
    [0, 17, 999, 4999].map((arm) => order.positionOf(arm)),
    [0, 17, 999, 4999].map((arm) => expected.indexOf(arm)),
  );
  const starts = order.starts([keys]);
  assert.deepEqual(
    [...starts],
    expected.flatMap((arm, i) => (i > 0 && keys[expected[i - 1]!] === keys[arm] ? [] : [i])),
  );
});

test("a sum tree finds places in proportion, and the same ones however it came to its weights", () => {
  const weights = Float64Array.of(0.1, 0, 0.3, 0.7, 0, 0.2);
  const tree = new SumTree(new Float64Array(6).fill(5));
  weights.forEach((weight, at) => {
    tree.set(at, weight * 3);
    tree.set(at, weight);
  });
  assert.equal(tree.total, new SumTree(weights).total);
  const random = randomStream("tree");
  const found = Array.from({ length: 100_000 }, () => tree.find(random.next() * tree.total));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  assert.ok(
    chiSquare(
      found,
      weights.map((weight) => weight / sum),
    ) < 16.3,
  );
  assert.equal(tree.find(tree.total), 5, "rounding never leads to a weight of 0");
});

/** Twelve arms, most of them alike, arm 3 closed; with classes of what the sampler reads, or without. */
function arms(
  sampler: FastSampler,
  closed: ReadonlySet<number>,
  only?: ReadonlySet<number>,
): [ArmPool, ArmPool] {
  const values = [0.1, 0.1, 0.5, 0.5, 0.5, 0.9, undefined, undefined, undefined, 0.1, 0.5, 0.7];
  const seen = Float64Array.of(8, 8, 16, 8, 8, 24, 0, 0, 0, 8, 8, 64);
  const drawn = seen.map((n) => n / 8);
  const known = poolOf(values, {
    rollouts: seen,
    groups: drawn,
    once: true,
    isOpen: (arm) => !closed.has(arm) && (only?.has(arm) ?? true),
    prior: (arm) => (arm < 6 ? 1 : 2),
    spread: (arm) => 0.3 / Math.sqrt(1 + drawn[arm]!),
  });
  const read = {
    estimate: known.estimate,
    spread: (arm: number) => known.posterior?.spread(arm) ?? 0,
    rollouts: (arm: number) => seen[arm]!,
    groups: (arm: number) => drawn[arm]!,
    prior: (arm: number) => Number(arm < 6),
    own: (arm: number) => sampler.classes?.own?.(arm) ?? 0,
  };
  const alike = new ClassedArms((sampler.classes?.reads ?? []).map((reading) => read[reading]));
  const classed = { ...known, classes: () => alike.classes(known.size, closed, only) };
  return [known, classed];
}

const closed = new Set([3]);
for (const [name, make] of some(
  [
    ["uniform", () => sampling(uniform, {})],
    ["boltzmann", () => sampling(boltzmann, { temperature: 0.4 })],
    ["proportional", () => sampling(proportional, { floor: 0.2 })],
    ["ucb_softmax", () => sampling(ucbSoftmax, { temperature: 0.5 })],
    ["tiers", () => sampling(tiers, {})],
    ["self_repellent", () => sampling(selfRepellent, {})],
    ["self_repellent with a temperature", () => sampling(selfRepellent, { temperature: 0.5 })],
    ["gaussian_window", () => sampling(gaussianWindow, { width: 3 })],
  ] as const,
  3,
))
  test(`${name}: arms drawn from classes come with the probabilities of each (chi-square over 100,000 draws)`, () => {
    const sampler = make();
    const [each, classed] = arms(sampler, closed);
    const p = sampler.probabilities(each, clock);
    assert.equal(p[3], 0);
    assert.ok(Math.abs(p.reduce((sum, share) => sum + share, 0) - 1) < 1e-12);
    const drawn = Array.from(
      { length: 100_000 },
      (_, i) => sampler.draw(classed, 1, randomStream(name, i), clock, [])[0]!,
    );
    const chi = chiSquare(drawn, p);
    assert.ok(chi < 29.6, `χ² = ${chi}, 0.999 quantile with 10 degrees of freedom is 29.6`);
    const all = sampler.draw(classed, 12, randomStream("all"), clock, []);
    assert.deepEqual(
      [...all].sort((a, b) => a - b),
      [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11],
    );
    const [, few] = arms(sampler, closed, new Set([2, 3, 9]));
    assert.deepEqual(new Set(sampler.draw(few, 12, randomStream("few"), clock, [])), new Set([2, 9]));
  });

for (const [name, make] of [
  ["greedy", () => sampling(greedy, {})],
  ["expected_improvement", () => sampling(expectedImprovement, {})],
  ["sorted", () => sampling(sorted, { order: "ascending" })],
] as const)
  test(`${name}: the same arms from classes as from each`, () => {
    for (const n of [1, 4, 12]) {
      const [one, other] = [make(), make()];
      const [each] = arms(one, closed);
      const [, classed] = arms(other, closed);
      assert.deepEqual(
        other.draw(classed, n, randomStream(1), clock, []),
        one.draw(each, n, randomStream(1), clock, []),
      );
    }
  });

test("classes follow what changes, what appears and what must not be drawn", () => {
  const values = new Map<number, number>();
  const alike = new ClassedArms([(arm) => values.get(arm) ?? Number.NaN]);
  const look = (size: number, shut: readonly number[] = []): [number, number, number][] => {
    const { size: count, first, arms: all, open } = alike.classes(size, new Set(shut));
    return Array.from({ length: count }, (_, of) => [first[of]!, all[of]!, open[of]!]);
  };
  assert.deepEqual(look(5), [[0, 5, 5]]);
  values.set(3, 0.5).set(0, 0.5).set(1, 0.2);
  assert.deepEqual(look(5), [[0, 5, 5]], "nobody has said so");
  alike.touch([3, 0, 1, -1]);
  assert.deepEqual(look(6, [3, 4]), [
    [1, 1, 1],
    [0, 2, 1],
    [2, 3, 2],
  ]);
  const before = alike.classes(6, new Set()).version;
  alike.touch([1]);
  assert.equal(alike.classes(6, new Set()).version, before, "it is as it was");
  alike.renew();
  assert.notEqual(alike.classes(6, new Set()).version, before);
});

test("sorted and greedy walk through arms in order, pass after pass, as what is believed changes", async () => {
  for (const [sampler, estimator] of [
    ["{ use: sorted, order: ascending }", "last"],
    ["sorted", "{ use: ema, decay_unsampled: true }"],
    ["greedy", "last"],
  ] as const) {
    const curriculum = curriculumOf(
      `{ arms: { use: prompt, pool: 40 }, signal: success_rate, estimator: ${estimator}, sampler: ${sampler} }`,
      "[{ env: countdown }]",
    );
    const visits = new Map<string, number>();
    for (let step = 0; step < 12; step++) {
      const known = curriculum.pool(at(step));
      const { estimates: value } = known;
      const drawn = await curriculum.draw(10, randomStream("walk", step), at(step));
      for (const { arm } of drawn) visits.set(arm, (visits.get(arm) ?? 0) + 1);
      if (sampler === "greedy") {
        const least = Math.min(...drawn.map(({ arm }) => rank(value[curriculum.arms.find(arm)]!)));
        const left = Array.from(value, rank).filter(
          (_, arm) => !drawn.some((one) => one.arm === known.arms.name(arm)),
        );
        assert.ok(left.every((one) => one <= least));
      } else assert.equal(visits.size, Math.min(40, 10 * (step + 1)), "each once a pass");
      curriculum.observe(
        drawn.map((one, i) =>
          group(
            Array.from({ length: 4 }, (_, k) => Number(k < (i * 7 + step) % 5)),
            one,
          ),
        ),
        [],
        at(step),
      );
    }
    if (sampler !== "greedy") assert.deepEqual(new Set(visits.values()), new Set([3]));
  }
});
const rank = (value: number): number => (Number.isNaN(value) ? Number.POSITIVE_INFINITY : value);
