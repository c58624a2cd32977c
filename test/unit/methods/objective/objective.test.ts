import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import { miniBatches, selectRows } from "../../../../server/core/rows/batch.ts";
import type { Stats } from "../../../../server/core/policy.ts";
import { clipped } from "../../../../server/methods/objective/surrogates/clipped.ts";
import { reinforce } from "../../../../server/methods/objective/surrogates/reinforce.ts";
import { sequenceMean } from "../../../../server/methods/objective/aggregates/sequenceMean.ts";
import { sequenceSum } from "../../../../server/methods/objective/aggregates/sequenceSum.ts";
import { sequenceSumNorm } from "../../../../server/methods/objective/aggregates/sequenceSumNorm.ts";
import { tokenMean } from "../../../../server/methods/objective/aggregates/tokenMean.ts";
import { batchOf, configOf, made, near, row } from "../../support.ts";
import { factorsOf } from "./differences.ts";

const clock = { step: 0, stageStep: 0 };
const batch = batchOf(
  [3, 1, 2, 0].map((length, index) => row("g", index, { tokens: Array.from({ length }, () => 1) })),
);
const weights = Float64Array.of(1, 1, 0, 1, 0, 0);

test("aggregates, by hand", () => {
  assert.deepEqual([...factorsOf(made(tokenMean, {}), weights, batch)], [1 / 3, 1 / 3, 0, 1 / 3, 0, 0]);
  assert.deepEqual([...factorsOf(made(sequenceMean, {}), weights, batch)], [1 / 4, 1 / 4, 0, 1 / 2, 0, 0]);
  assert.deepEqual(
    [...factorsOf(made(sequenceMean, { empty_rows: "count" }), weights, batch)],
    [1 / 8, 1 / 8, 0, 1 / 4, 0, 0],
  );
  assert.deepEqual(
    [...factorsOf(made(sequenceSumNorm, {}), weights, batch)],
    [1 / 40, 1 / 40, 0, 1 / 40, 0, 0],
  );
  assert.deepEqual(
    [...factorsOf(made(sequenceSumNorm, { budget: 5 }), weights, batch)],
    [1 / 20, 1 / 20, 0, 1 / 20, 0, 0],
  );
  for (const method of [tokenMean, sequenceMean])
    assert.ok(factorsOf(made(method, {}), new Float64Array(6), batch).every((factor) => factor === 0));
});

const single = batchOf([row("g", 0, { tokens: [1, 1, 1, 1] })]);
const ones = Float64Array.of(1, 1, 1, 1);

test("the clip acts above for gains and below for losses only, with its own bound on each side", () => {
  const now = Float64Array.of(Math.log(1.5), Math.log(0.5), Math.log(1.5), Math.log(0.5));
  const { loss, gradients, metrics } = made(clipped, { low: 0.2, high: 0.28 }).loss({
    batch: single,
    now: { logp: now },
    old: { logp: new Float64Array(4) },
    advantages: Float64Array.of(1, 1, -1, -1),
    weights: ones,
    factors: ones,
  });
  assert.ok(near(loss, -(1.28 + 0.5 - 1.5 - 0.8)));
  [0, -0.5, 1.5, 0].forEach((value, i) => assert.ok(near(gradients.logp?.[i], value)));
  assert.equal(metrics?.["update/clip_fraction"], 0.5);
  assert.ok(near(metrics["update/ratio_max"], 1.5));
});

test("reinforce is −A log π", () => {
  const { loss, gradients } = made(reinforce, {}).loss({
    batch: single,
    now: { logp: Float64Array.of(-1, -2, -3, -4) },
    old: {},
    advantages: Float64Array.of(1, 2, 0, -1),
    weights: ones,
    factors: ones,
  });
  assert.equal(loss, 1 + 4 - 4);
  assert.deepEqual([...(gradients.logp ?? [])], [-1, -2, -0, 1]);
});

const algorithm = (text: string): Algorithm => {
  const { top } = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n${text}`,
  );
  return new Algorithm(top, contextOf(top, { random: randomStream(1) }));
};

const columns = fc.record({
  now: fc.array(fc.double({ min: -3, max: -0.1, noNaN: true }), { minLength: 6, maxLength: 6 }),
  old: fc.array(fc.double({ min: -3, max: -0.1, noNaN: true }), { minLength: 6, maxLength: 6 }),
  reference: fc.array(fc.double({ min: -3, max: -0.1, noNaN: true }), { minLength: 6, maxLength: 6 }),
  entropy: fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 6, maxLength: 6 }),
  advantages: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 6, maxLength: 6 }),
});

const configs = [
  "objective: { use: clipped, low: 0.2, high: 0.28, aggregate: token_mean, entropy: 0.05 }\nkl: [{ estimator: k3, coefficient: 0.3 }]\n",
  "objective: { use: clipped, aggregate: { use: sequence_mean, empty_rows: count } }\nkl: [{ estimator: k2, coefficient: 0.3 }, { estimator: k1, coefficient: 0.1 }]\n",
  "objective: { use: reinforce, aggregate: { use: sequence_sum_norm, budget: 7 }, entropy: 0.1 }\n",
];

test("gradients by logp and entropy are the derivatives of the loss: objective, KL and entropy bonus together", () => {
  for (const text of configs) {
    const chain = algorithm(text);
    fc.assert(
      fc.property(columns, ({ now, old, reference, entropy, advantages }) => {
        // At the clip's kinks there is no derivative.
        fc.pre(
          now.every((lp, i) =>
            [0.8, 1.2, 1.28].every((edge) => Math.abs(Math.exp(lp - old[i]!) - edge) > 1e-3),
          ),
        );
        const weigh = chain.weigh(
          {
            old: { logp: Float64Array.from(old), "logp:reference": Float64Array.from(reference) },
            advantages: Float64Array.from(advantages),
            weights,
          },
          clock,
        );
        const at = (lps: number[], es: number[]) =>
          weigh({ logp: Float64Array.from(lps), entropy: Float64Array.from(es) } satisfies Stats, batch);
        const { gradients } = at(now, entropy);
        const h = 1e-6;
        const moved = (list: number[], i: number, by: number): number[] =>
          list.map((value, j) => (j === i ? value + by : value));
        return now.every((_, i) => {
          const byLogp = (at(moved(now, i, h), entropy).loss - at(moved(now, i, -h), entropy).loss) / (2 * h);
          const byEntropy =
            (at(now, moved(entropy, i, h)).loss - at(now, moved(entropy, i, -h)).loss) / (2 * h);
          return (
            Math.abs(byLogp - (gradients.logp?.[i] ?? 0)) < 1e-6 &&
            Math.abs(byEntropy - (gradients.entropy?.[i] ?? 0)) < 1e-6
          );
        });
      }),
      { numRuns: 50 },
    );
  }
});

test("tokens that do not train change neither the loss nor the gradients of the others", () => {
  const chain = algorithm(configs[0]!);
  const longer: Batch = batchOf([
    row("g", 0, { tokens: [1, 1, 1], origin: ["written", "written", "observed"] }),
    row("g", 1, { tokens: [1, 1, 1], origin: ["observed", "written", "given"] }),
  ]);
  const shorter: Batch = batchOf([row("g", 0, { tokens: [1, 1] }), row("g", 1, { tokens: [1] })]);
  const run = (of: Batch, values: number[]): { loss: number; logp: number[] } => {
    const masked = chain.masked(of);
    const mask = Float64Array.from(masked.mask);
    const column = Float64Array.from(values);
    const { loss, gradients } = chain.weigh(
      {
        old: { logp: column.map((x) => x - 0.1), "logp:reference": column.map((x) => x + 0.2) },
        advantages: column.map((x) => -x),
        weights: mask,
      },
      clock,
    )({ logp: column, entropy: column.map((x) => -x) }, masked);
    return { loss, logp: [...(gradients.logp ?? [])].filter((_, i) => masked.mask[i] === 1) };
  };
  assert.deepEqual(run(longer, [-1, -2, Number.NaN, 7, -3, Number.NaN]), run(shorter, [-1, -2, -3]));
});

test("channels, models and the unit follow from the config", () => {
  const chain = algorithm(configs[0]!);
  assert.deepEqual(chain.needs(clock).channels, ["logp", "entropy"]);
  assert.deepEqual(chain.needs(clock).models, ["reference"]);
  assert.deepEqual(algorithm("kl: []").needs(clock).models, []);
  assert.equal(chain.needs(clock).unit, "sequence");
});

test("an episode of several rows counts once in means over rollouts, as though it were one row", () => {
  const rows = (
    ...parts: readonly (readonly [index: number, tokens: number, part?: readonly [number, number]])[]
  ) =>
    batchOf(
      parts.map(([index, tokens, part]) =>
        row("g", index, {
          tokens: Array.from({ length: tokens }, () => 1),
          ...(part && { part: { number: part[0], of: part[1] } }),
        }),
      ),
    );
  const split = rows([0, 2, [1, 3]], [0, 1, [2, 3]], [0, 3, [3, 3]], [1, 2]);
  const whole = rows([0, 6], [1, 2]);
  for (const factors of [
    made(sequenceMean, {}),
    made(sequenceSum, {}),
    made(sequenceSumNorm, { budget: 7 }),
    made(tokenMean, {}),
  ]) {
    const [one, other] = [factors(Int32Array.of(2, 1, 3, 2), split), factors(Int32Array.of(6, 2), whole)];
    assert.deepEqual([...one], [other[0], other[0], other[0], other[1]]);
  }
  // A row whose tokens do not train leaves its episode counted; one without any counts where empty rows do.
  assert.deepEqual([...made(sequenceMean, {})(Int32Array.of(0, 0, 4, 0), split)], [0.25, 0.25, 0.25, 1]);
  assert.deepEqual(
    [...made(sequenceMean, { empty_rows: "count" })(Int32Array.of(0, 0, 4, 0), split)],
    [0.125, 0.125, 0.125, 0.5],
  );
  const order = selectRows(split, [3, 0, 2, 1]);
  assert.deepEqual(miniBatches(order, 2, "sequence"), [[0], [1, 2, 3]], "a mini-batch splits no episode");
});
