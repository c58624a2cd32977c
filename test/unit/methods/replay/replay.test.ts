import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rowValue } from "../../../../server/algorithm/rewards/rewards.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { bestN } from "../../../../server/methods/replay/selections/bestN.ts";
import { bestRandom } from "../../../../server/methods/replay/selections/bestRandom.ts";
import { bestWorst } from "../../../../server/methods/replay/selections/bestWorst.ts";
import { drawPriority } from "../../../../server/methods/replay/draws/drawPriority.ts";
import { drawRecent } from "../../../../server/methods/replay/draws/drawRecent.ts";
import { drawSameTasks } from "../../../../server/methods/replay/draws/drawSameTasks.ts";
import { drawUniform } from "../../../../server/methods/replay/draws/drawUniform.ts";
import { keepAdvantage } from "../../../../server/methods/replay/admissions/keepAdvantage.ts";
import { keepLeftovers } from "../../../../server/methods/replay/admissions/keepLeftovers.ts";
import { keepReward } from "../../../../server/methods/replay/admissions/keepReward.ts";
import { keepSuccesses } from "../../../../server/methods/replay/admissions/keepSuccesses.ts";
import type { KeptRow } from "../../../../server/methods/replay/keptRow.ts";
import { Memory, pastOf, quantileOf, recalibrated, taken } from "../../../../server/methods/replay/memory.ts";
import { shortLong } from "../../../../server/methods/replay/selections/shortLong.ts";
import type { Candidate, Past } from "../../../../server/core/slots/replay.ts";
import type { RewardColumn } from "../../../../server/core/reward.ts";
import { batchOf, task, type RowSpec } from "../../../support/batch.ts";
import { made, near } from "../../support.ts";

const paidBy = ({ terms }: KeptRow): Record<string, number> =>
  Object.fromEntries(terms.map((term) => [term.name, rowValue(term, 0)]));
const column = (value: number): RewardColumn => ({
  name: "correct",
  level: "response",
  status: Uint8Array.of(0),
  offsets: Int32Array.of(0, 1),
  values: Float64Array.of(value),
  errors: new Map(),
});
function kept(
  step: number,
  group: string,
  reward: number,
  more: Partial<KeptRow> = {},
  row: Partial<RowSpec> = {},
): KeptRow {
  const spec: RowSpec = { tokens: [3, 1, 4], context: [7], record: { task: task(group) }, ...row };
  return {
    batch: batchOf([spec], { logp_old: Float64Array.of(-1, -2, -3), versions: Int32Array.of(4, 4, 5) }),
    step,
    group: `${step}/${group}`,
    terms: [column(reward)],
    reward,
    success: reward > 0 ? 1 : 0,
    advantages: Float64Array.of(reward, reward, Number.NaN),
    left: false,
    draws: 0,
    ...more,
  };
}
const past = (more: Partial<Past> = {}): Past => ({
  task: "a",
  reward: 0,
  advantage: 0,
  success: 0,
  perplexity: 1,
  length: 1,
  age: 0,
  draws: 0,
  left: false,
  ...more,
});
const random = randomStream(5, "replay test");

describe("the memory", () => {
  it("keeps what is let in, forgets by age and by room, the oldest first", () => {
    const memory = new Memory(3, 2);
    memory.keep([kept(0, "a", 1), kept(0, "b", 0)], made(keepReward, { above: 0.5 }), 0);
    assert.equal(memory.rows.length, 1);
    memory.keep([kept(1, "c", 1), kept(1, "d", 1), kept(1, "e", 1)], () => true, 1);
    assert.deepEqual(
      memory.rows.map(({ group }) => group),
      ["1/c", "1/d", "1/e"],
    );
    assert.ok(memory.full);
    memory.forget(4);
    assert.equal(memory.rows.length, 0);
  });
  it("keeps, draws and forgets the rows of an episode together", () => {
    const episode = (step: number, index: number, reward: number, of = 3): KeptRow[] =>
      Array.from({ length: of }, (_, at) =>
        kept(
          step,
          "a",
          reward,
          {},
          { record: { task: task("a"), index, ...(of > 1 && { part: { number: at + 1, of } }) } },
        ),
      );
    const memory = new Memory(6, undefined);
    memory.keep(
      [...episode(0, 0, 1), ...episode(0, 1, 0), ...episode(0, 2, 1, 1)],
      made(keepReward, { above: 0.5 }),
      0,
    );
    assert.deepEqual(
      memory.units("rollout", 0).map(({ rows, past: { reward, length } }) => [rows.length, reward, length]),
      [
        [3, 1, 9],
        [1, 1, 3],
      ],
    );
    const [whole] = memory.units("group", 0);
    assert.deepEqual([whole!.rows.length, whole!.past.length, whole!.past.reward], [4, 6, 1]);
    const drawn = taken(memory.units("rollout", 0), [{ index: 0, weight: 0.5 }]);
    assert.deepEqual(
      drawn.rows.map(({ batch: { records }, draws }) => [records[0]!.part!.number, draws]),
      [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
    );
    memory.keep(episode(1, 0, 1), () => true, 1);
    assert.equal(memory.rows.length, 7, "room for six rows would cut the first episode");
    memory.keep(episode(2, 0, 1), () => true, 2);
    assert.deepEqual(
      memory.rows.map(({ step }) => step),
      [1, 1, 1, 2, 2, 2],
    );
    assert.ok(memory.full);
  });
  it("says of a rollout what the rules ask", () => {
    const one = pastOf([kept(2, "a", 1)], 5);
    assert.deepEqual(
      { age: one.age, oneLength: one.length, success: one.success, advantage: one.advantage, task: one.task },
      { age: 3, oneLength: 3, success: 1, advantage: 1, task: "a" },
    );
    assert.ok(near(one.perplexity, Math.exp(2)));
    assert.deepEqual(paidBy(kept(0, "a", 0.5)), { correct: 0.5 });
  });
  it("draws whole groups, and counts draws", () => {
    const memory = new Memory(9, undefined);
    memory.keep([kept(0, "a", 1), kept(0, "a", 0), kept(1, "a", 1)], () => true, 1);
    const units = memory.units("group", 1);
    assert.deepEqual(
      units.map(({ rows }) => rows.length),
      [2, 1],
    );
    assert.deepEqual(
      { reward: units[0]!.past.reward, success: units[0]!.past.success },
      { reward: 0.5, success: 0.5 },
    );
    const { rows, weights } = taken(units, [{ index: 0, weight: 0.5 }]);
    assert.deepEqual([rows.length, ...weights], [2, 0.5, 0.5]);
    assert.deepEqual(
      memory.rows.map(({ draws }) => draws),
      [1, 1, 0],
    );
  });
  it("recalibrates against the median of recent groups", () => {
    const memory = new Memory(9, undefined);
    memory.groups = 3;
    assert.equal(memory.level(0.5), undefined);
    memory.observe([
      Float64Array.of(9, 9),
      Float64Array.of(0, 1),
      Float64Array.of(1, 1),
      Float64Array.of(0, 0),
      new Float64Array(),
    ]);
    // The first group is one too many: means 0.5, 1, 0 stay.
    const level = memory.level(0.5)!;
    assert.equal(level.mean, 0.5);
    const both = { negatives: "drop", divide: false } as const;
    assert.deepEqual([...recalibrated(kept(0, "a", 1), level, both)!], [0.5, 0.5, 0.5]);
    assert.equal(recalibrated(kept(0, "a", 0), level, both), undefined);
    assert.deepEqual(
      [...recalibrated(kept(0, "a", 0), level, { ...both, negatives: "keep" })!],
      [-0.5, -0.5, -0.5],
    );
    assert.equal(recalibrated(kept(0, "a", Number.NaN), level, both), undefined);
    assert.equal(quantileOf([0, 1, 2, 3], 0.5), 1.5);
  });
  it("comes back from a checkpoint as it was", () => {
    const memory = new Memory(9, undefined);
    memory.groups = 5;
    memory.keep(
      [
        kept(0, "a", 1, { draws: 2 }),
        kept(1, "b", Number.NaN, { left: true, success: 2 }, { tokens: [1], context: [1, 2], origin: [1] }),
      ].map((row, i) =>
        i === 0
          ? row
          : {
              ...row,
              batch: batchOf([
                { tokens: [1], context: [1, 2], origin: [1], record: { spans: { mine: [[0, 1]] } } },
              ]),
              advantages: Float64Array.of(2),
              terms: [{ ...column(Number.NaN), status: Uint8Array.of(2), errors: new Map([[0, "slow"]]) }],
            },
      ),
      () => true,
      1,
    );
    memory.observe([Float64Array.of(1, 0)]);
    const saved = memory.save();
    const again = new Memory(9, undefined);
    again.load({ json: JSON.parse(JSON.stringify(saved.json)), arrays: saved.arrays! });
    assert.deepEqual(again.save(), saved);
    assert.deepEqual(again.level(0.5), memory.level(0.5));
    for (const [i, row] of memory.rows.entries()) {
      const { batch, ...rest } = again.rows[i]!;
      assert.deepEqual(
        { reward: rest.reward, success: rest.success, left: rest.left, draws: rest.draws },
        { reward: row.reward, success: row.success, left: row.left, draws: row.draws },
      );
      assert.deepEqual([...rest.advantages], [...row.advantages]);
      assert.deepEqual(rest.terms, row.terms);
      assert.deepEqual(
        [...batch.tokens, ...batch.mask, ...batch.origin, ...batch.context.values],
        [...row.batch.tokens, ...row.batch.mask, ...row.batch.origin, ...row.batch.context.values],
      );
      assert.deepEqual(batch.records, row.batch.records);
    }
    assert.deepEqual([...again.rows[0]!.batch.columns.logp_old!], [-1, -2, -3]);
    assert.deepEqual([...again.rows[0]!.batch.columns.versions!], [4, 4, 5]);
  });
});

describe("admission to the memory", () => {
  it("by success and perplexity, advantage, reward, or being left out", () => {
    assert.ok(made(keepSuccesses, {})(past({ success: 1 })));
    assert.ok(!made(keepSuccesses, {})(past({ success: Number.NaN })));
    const band = made(keepSuccesses, { perplexity: [1.05, 2] });
    assert.deepEqual(
      [1, 1.5, 3].map((perplexity) => band(past({ success: 1, perplexity }))),
      [false, true, false],
    );
    assert.deepEqual(
      [0, 0.1, Number.NaN].map((advantage) => made(keepAdvantage, {})(past({ advantage }))),
      [false, true, false],
    );
    assert.ok(made(keepLeftovers, {})(past({ left: true })));
  });
});

describe("draws", () => {
  /** χ² over the counts; 16.27 is the 0.1 % point of three degrees of freedom. */
  function chiSquare(counts: readonly number[], shares: readonly number[]): number {
    const n = counts.reduce((sum, count) => sum + count, 0);
    return counts.reduce((sum, count, i) => sum + (count - n * shares[i]!) ** 2 / (n * shares[i]!), 0);
  }
  const counted = (indices: readonly number[]): number[] =>
    [0, 1, 2, 3].map((i) => indices.filter((one) => one === i).length);

  it("by priority in proportion to the measure, with weights that undo it", () => {
    const four = [1, 2, 3, 4].map((advantage) => past({ advantage: -advantage }));
    const drawn = made(drawPriority, { epsilon: 0, beta: 1 })(four, 20_000, random, new Set());
    assert.ok(chiSquare(counted(drawn.map(({ index }) => index)), [0.1, 0.2, 0.3, 0.4]) < 16.27);
    // w_i = min_j p_j / p_i, so that each rollout counts alike on average.
    for (const { index, weight } of drawn.slice(0, 50)) assert.ok(near(weight, 1 / (index + 1)));
    const squared = made(drawPriority, { epsilon: 0, alpha: 2 })(four, 20_000, random, new Set());
    assert.ok(
      chiSquare(
        counted(squared.map(({ index }) => index)),
        [1, 4, 9, 16].map((p) => p / 30),
      ) < 16.27,
    );
    assert.ok(squared.every(({ weight }) => weight === 1));
    assert.deepEqual(
      made(drawPriority, { by: "reward", epsilon: 0 })([past({ reward: -1 })], 3, random, new Set()),
      [],
    );
    const unknown = [past({ advantage: Number.NaN }), past({ advantage: 1 })];
    assert.deepEqual(
      [...new Set(made(drawPriority, {})(unknown, 9, random, new Set()).map(({ index }) => index))],
      [1],
    );
  });
  it("uniformly without a repeat, all alike", () => {
    const draw = made(drawUniform, {});
    const four = [past(), past(), past(), past()];
    const once = Array.from({ length: 5000 }, () => draw(four, 1, random, new Set())[0]!.index);
    assert.ok(chiSquare(counted(once), [0.25, 0.25, 0.25, 0.25]) < 16.27);
    assert.equal(new Set(draw(four, 9, random, new Set()).map(({ index }) => index)).size, 4);
  });
  it("the newest first, or those of the step's tasks", () => {
    const three = [past({ age: 3 }), past({ age: 1, draws: 1, task: "b" }), past({ age: 1, task: "b" })];
    assert.deepEqual(
      made(drawRecent, {})(three, 2, random, new Set()).map(({ index }) => index),
      [2, 1],
    );
    assert.deepEqual(
      made(drawSameTasks, {})(three, 9, random, new Set(["a"])).map(({ index }) => index),
      [0],
    );
  });
});

describe("selection of a step's rollouts", () => {
  const rows: Candidate[] = [
    { reward: 0, success: 0, length: 9 },
    { reward: 2, success: 1, length: 5 },
    { reward: 1, success: 1, length: 2 },
    { reward: Number.NaN, success: Number.NaN, length: 1 },
    { reward: -1, success: 0, length: 3 },
  ];
  it("the best, the best with others at random, the best and the worst", () => {
    assert.deepEqual(made(bestN, { keep: 2 }).choose(rows, random), [1, 2]);
    assert.deepEqual(made(bestWorst, {}).choose(rows.slice(0, 3), random), [1, 0]);
    assert.deepEqual(made(bestWorst, {}).choose(rows.slice(0, 1), random), [0]);
    const others = Array.from({ length: 400 }, () => made(bestRandom, {}).choose(rows, random));
    assert.ok(others.every(([best, other]) => best === 1 && other !== 1));
    assert.equal(new Set(others.map(([, other]) => other)).size, 4);
  });
  it("short successes and long failures, unknown ones never", () => {
    const choice = made(shortLong, {});
    assert.equal(choice.over, "step");
    assert.deepEqual(choice.choose(rows, random), [0, 2]);
    assert.deepEqual(made(shortLong, { successes: 1, failures: 0 }).choose(rows, random), [1, 2]);
  });
});
