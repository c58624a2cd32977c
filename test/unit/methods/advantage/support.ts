/** The advantage slot on rows written by hand: one method, or the whole chain of a config. */
import assert from "node:assert/strict";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { columnOf, type Scores } from "../../../../server/algorithm/rewards/rewards.ts";
import type { Advantages } from "../../../../server/algorithm/advantages/tokenAdvantages.ts";
import type {
  AdvantageBaseline,
  AdvantageInput,
  AdvantageScale,
} from "../../../../server/core/slots/advantage.ts";
import { unitsOf } from "../../../../server/methods/advantage/units.ts";
import { recordedValue } from "../../../../server/analysis/recorded.ts";
import type { Clock } from "../../../../server/core/basics.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { Stats } from "../../../../server/core/policy.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { batchOf, configOf, context, row } from "../../support.ts";

export const start: Clock = { step: 0, stageStep: 0 };

/** Response-level input: `group[i]` is the group of `totals[i]`, all one group where it is absent. NaN: no reward. */
export function inputOf(
  totals: readonly number[],
  group: readonly number[] = totals.map(() => 0),
  rows: readonly Partial<RolloutRow>[] = [],
): AdvantageInput {
  const batch = batchOf(totals.map((_, i) => row(`g${group[i]}`, i, { tokens: [1], ...rows[i] })));
  const column = Float64Array.from(totals);
  const numbers = [...new Set(group)];
  return {
    units: unitsOf(batch, "response"),
    rewards: column,
    totals: column,
    groups: numbers
      .map((number) =>
        Int32Array.from([...totals.keys()].filter((i) => group[i] === number && !Number.isNaN(totals[i]!))),
      )
      .filter((rows) => rows.length > 0),
    batch,
    stats: {},
    clock: start,
    gamma: 1,
    observations: "skip",
    column: (_, size) => new Float64Array(size),
  };
}

/** What a baseline and a scale make of rewards. */
export function applied(baseline: AdvantageBaseline, scale: AdvantageScale, input: AdvantageInput): number[] {
  return [...scale(baseline.centre(input), input)];
}

/** A config's whole chain from recorded rows to advantages. */
export class Chain {
  readonly algorithm: Algorithm;
  constructor(
    advantage: string,
    more = "",
    private readonly terms: readonly string[] = ["right"],
  ) {
    const rewards = terms.map((name) => `${name}: equation`).join(", ");
    const text = more.includes("reward:") ? more : `reward: { terms: { ${rewards} } }\n${more}`;
    const written = `tasks: [{ env: countdown }]\nadvantage: ${advantage}\n${text}\n`;
    const { top } = configOf(written, undefined, true);
    this.algorithm = new Algorithm(top, contextOf(top, { random: context.random }));
  }

  batch(rows: readonly RolloutRow[]): Batch {
    return this.algorithm.masked(batchOf(rows));
  }

  scored(rows: readonly RolloutRow[], batch: Batch, clock = start): Scores {
    const columns = this.terms.map((name) =>
      columnOf(
        name,
        rows.map((one) => recordedValue(one, name)),
        batch,
      ),
    );
    return this.algorithm.rewards(columns, batch, clock);
  }

  advantages(rows: readonly RolloutRow[], stats: Stats = {}, clock = start): Advantages {
    const batch = this.batch(rows);
    return this.algorithm.advantages(this.scored(rows, batch, clock).combined, batch, stats, clock);
  }

  /** Per row, its tokens' advantages. */
  tokens(rows: readonly RolloutRow[], stats: Stats = {}, clock = start): number[][] {
    const batch = this.batch(rows);
    const { tokens } = this.advantages(rows, stats, clock);
    return rows.map((_, i) => [...tokens.subarray(batch.offsets[i]!, batch.offsets[i + 1]!)]);
  }
}

/** A row of some tokens with its reward. */
export const paid = (
  group: string,
  index: number,
  right: NonNullable<RolloutRow["rewards"]>[string],
  length = 2,
  more: Partial<RolloutRow> = {},
): RolloutRow =>
  row(group, index, {
    tokens: Array.from({ length }, (_, t) => t + 1),
    rewards: { right },
    ...more,
  });

/** Rows of numbers, one by one. */
export const close = (
  actual: readonly number[][],
  expected: readonly (readonly number[])[],
  tolerance = 1e-12,
): void =>
  expected.forEach((values, i) => {
    assert.equal(actual[i]!.length, values.length);
    values.forEach((value, t) =>
      assert.ok(
        Math.abs(actual[i]![t]! - value) <= tolerance,
        `row ${i}: ${actual[i]!.join(", ")} is not ${values.join(", ")}`,
      ),
    );
  });
