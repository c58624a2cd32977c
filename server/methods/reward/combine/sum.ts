import { z } from "zod";
import { combine } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type RewardColumn, type Rewards } from "../../../core/reward.ts";
import { failedRows, rowSum, weighted } from "../columns.ts";

export function summed(rewards: Rewards, batch: Batch): Combined {
  const total = new Float64Array(batch.rows).fill(Number.NaN);
  const errored = failedRows(rewards, batch.rows);
  const sources: RewardColumn[] = rewards.terms.map((term, i) => weighted(term, rewards.weights[i]!));
  for (const source of sources) {
    for (let row = 0; row < batch.rows; row++) {
      if (source.status[row] === status.value && errored[row] === 0)
        total[row] = (Number.isNaN(total[row]!) ? 0 : total[row]!) + rowSum(source, row);
    }
  }
  return { sources, weights: rewards.weights, total, errored };
}

export const sum = combine({
  name: "sum",
  summary: "Weighted sum of the terms that apply; no reward if none applies.",
  formula: "r = Σ_k w_k r_k",
  sources: ["TRL", "verl"],
  params: z.object({}),
  create: () => summed,
});
