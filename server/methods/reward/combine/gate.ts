import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type RewardColumn, type Rewards } from "../../../core/reward.ts";
import { rowSum } from "../columns.ts";
import { summed } from "./sum.ts";

/** By term, 1 on rows on which a term before it does not clear its gate. */
function closedGates({ terms }: Rewards, rows: number, gates: readonly number[]): Uint8Array[] {
  const closed = new Uint8Array(rows);
  return terms.map((term, i) => {
    const before = closed.slice();
    for (let row = 0; row < rows; row++)
      if (term.status[row] === status.value && rowSum(term, row) <= (gates[i] ?? 0)) closed[row] = 1;
    return before;
  });
}

function shut(term: RewardColumn, closed: Uint8Array): RewardColumn {
  const values = term.values.slice();
  closed.forEach((is, row) => {
    if (is === 0) return;
    for (let i = term.offsets[row]!; i < term.offsets[row + 1]!; i++)
      if (!Number.isNaN(values[i]!)) values[i] = 0;
  });
  return { ...term, values };
}

function gated(rewards: Rewards, batch: Batch, gates: readonly number[]): Combined {
  const closed = closedGates(rewards, batch.rows, gates);
  return summed({ ...rewards, terms: rewards.terms.map((term, i) => shut(term, closed[i]!)) }, batch);
}

export const gate = combine({
  name: "gate",
  summary:
    "Weighted sum in which a term counts only where every term before it, in the config's order, is above its gate.",
  formula: "r = Σ_i w_i R_i, with R_i ← 0 where R_j ≤ v_j for some j before i",
  sources: ["Stabilizing Long-term Multi-turn Reinforcement Learning with Gated Rewards"],
  params: z.object({
    gates: param(
      z.array(z.number()).default([]),
      "v of the first, the second, … term, held against its value before its weight; 0 for further ones. A term that does not apply closes nothing.",
    ),
  }),
  create:
    ({ gates }) =>
    (rewards, batch) =>
      gated(rewards, batch, gates),
});
