import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type RewardColumn, type Rewards } from "../../../core/reward.ts";
import { rowSum } from "../columns.ts";
import { summed } from "./sum.ts";

/** Of a column by attempt: what each is better than the one before, times alpha; NaN where there is none before. */
function gains(source: RewardColumn, alpha: number): RewardColumn {
  const values = new Float64Array(source.values.length).fill(Number.NaN);
  for (let row = 0; row + 1 < source.offsets.length; row++) {
    let before = Number.NaN;
    for (let i = source.offsets[row]!; i < source.offsets[row + 1]!; i++) {
      const value = source.values[i]!;
      if (Number.isNaN(value)) continue;
      values[i] = alpha * (value - before);
      before = value;
    }
  }
  return { ...source, name: `${source.name} progress`, values };
}

function withProgress(rewards: Rewards, batch: Batch, alpha: number): Combined {
  const { sources, total, errored } = summed(rewards, batch);
  const more = sources.filter(({ level }) => level === "turn").map((source) => gains(source, alpha));
  for (const source of more)
    for (let row = 0; row < batch.rows; row++)
      if (source.status[row] === status.value && errored[row] === 0) total[row]! += rowSum(source, row);
  return { sources: [...sources, ...more], total, errored };
}

export const progress = combine({
  name: "progress",
  summary:
    "Weighted sum of the terms. Those that score each attempt (`attempts: each`) also reward every later attempt for its gain over the one before.",
  formula: "r(k) + α · (r(k) − r(k − 1)) at attempt k > 1",
  sources: ["Training Language Models to Self-Correct via Reinforcement Learning"],
  params: z.object({
    alpha: param(z.number().nonnegative().default(10), "α: factor on the gain over the previous attempt."),
  }),
  create:
    ({ alpha }) =>
    (rewards, batch) =>
      withProgress(rewards, batch, alpha),
});
