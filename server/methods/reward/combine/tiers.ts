import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type Rewards } from "../../../core/reward.ts";
import { failedRows, oneTerm, rowSum } from "../columns.ts";

/** The value of the first term, in the config's order, whose value of a row is at least this. */
function tiered(
  { terms, weights }: Rewards,
  batch: Batch,
  values: readonly number[],
  otherwise: number,
  least: number,
): Combined {
  const errored = failedRows({ terms, weights }, batch.rows);
  const asked = terms.slice(0, values.length);
  const total = Float64Array.from({ length: batch.rows }, (_, row) => {
    const applying = asked.filter(({ status: states }) => states[row] === status.value);
    if (errored[row] === 1 || applying.length === 0) return Number.NaN;
    const reached = asked.findIndex((term) => applying.includes(term) && rowSum(term, row) >= least);
    return reached < 0 ? otherwise : values[reached]!;
  });
  return { sources: [oneTerm("tiers", total, errored)], total, errored };
}

export const tiers = combine({
  name: "tiers",
  summary:
    "One of a few rewards: that of the first term, in the config's order, that is reached. Weights only say which terms must not fail.",
  formula: "r = values[k] for the first k with r_k ≥ at_least, else otherwise",
  sources: ["Learning from Failures in Multi-Attempt Reinforcement Learning"],
  params: z.object({
    values: param(
      z.array(z.number()).min(1).default([1, -0.5]),
      "The reward if the first, the second, … term is reached; later terms add nothing.",
    ),
    otherwise: param(z.number().default(-1), "The reward if no term is reached."),
    at_least: param(
      z.number().default(1),
      "A term is reached if its value, before its weight, is at least this.",
    ),
  }),
  create:
    ({ values, otherwise, at_least }) =>
    (rewards, batch) =>
      tiered(rewards, batch, values, otherwise, at_least),
});
