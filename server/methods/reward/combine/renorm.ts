import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type RewardColumn, type Rewards } from "../../../core/reward.ts";
import { failedRows, oneTerm, rowSum, weighted } from "../columns.ts";

/** The sum of the outcome terms that apply to each row; NaN: none does. */
function outcomes(columns: readonly RewardColumn[], rows: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, row) => {
    const applying = columns.filter((column) => column.status[row] === status.value);
    return applying.length === 0
      ? Number.NaN
      : applying.reduce((sum, column) => sum + rowSum(column, row), 0);
  });
}

/** Every step's reward with the outcome of its row added and `bound` taken off. */
function shifted(column: RewardColumn, outcome: Float64Array, bound: number): RewardColumn {
  const values = column.values.slice();
  outcome.forEach((reward, row) => {
    if (Number.isNaN(reward)) return;
    for (let i = column.offsets[row]!; i < column.offsets[row + 1]!; i++) values[i]! += reward - bound;
  });
  return { ...column, values };
}

function renormed({ terms, weights }: Rewards, batch: Batch, bound: number): Combined {
  const errored = failedRows({ terms, weights }, batch.rows);
  const columns = terms.flatMap((term, i) => (weights[i] === 0 ? [] : [weighted(term, weights[i]!)]));
  const steps = columns.filter(({ level }) => level !== "response");
  const outcome = outcomes(
    columns.filter(({ level }) => level === "response"),
    batch.rows,
  );
  const sources = steps.map((column) => shifted(column, outcome, bound));
  const scored = (row: number): readonly RewardColumn[] =>
    sources.filter((column) => column.status[row] === status.value);
  // A response without steps has its outcome.
  const alone = outcome.map((reward, row) => (scored(row).length === 0 ? reward : Number.NaN));
  const total = outcome.map((reward, row) => {
    if (errored[row] === 1) return Number.NaN;
    const own = scored(row);
    return own.length === 0 ? reward : own.reduce((sum, column) => sum + rowSum(column, row), 0);
  });
  return { sources: [...sources, oneTerm("outcome", alone, errored)], total, errored };
}

export const renorm = combine({
  name: "renorm",
  summary:
    "Rewards of steps and of the outcome, normalised together: steps of a response that failed are at most 0, those of one that succeeded at least 0.",
  formula: "r̃_t = r_p,t + r_o − 1, with the step's reward r_p,t and the outcome r_o in [0, 1]",
  sources: ["Hybrid Reward Normalization for Process-supervised Non-verifiable Agentic Tasks"],
  params: z.object({
    bound: param(z.number().default(1), "What is taken off: the most that a step, or the outcome, can be."),
  }),
  create:
    ({ bound }) =>
    (rewards, batch) =>
      renormed(rewards, batch, bound),
});
