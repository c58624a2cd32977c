import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";

const params = z.object({
  rho: param(z.number().positive().default(1), "Temperature ρ of Q = ρ (log π − log π_old)."),
  bootstrap: param(
    z.number().min(0).default(1),
    "Factor on the next state's mean Q in the target; 0: the advantage alone.",
  ),
});

/** Mean of Q over the vocabulary in the state after a token: 0 after the last one that trains. */
function following(input: ObjectiveInput, rho: number): Float64Array {
  const { batch, weights } = input;
  const now = column(input.now, "mean_logp", "rover");
  const old = column(input.old, "mean_logp", "rover");
  const next = new Float64Array(weights.length);
  for (let row = 0; row < batch.rows; row++)
    for (let t = batch.offsets[row]!; t + 1 < batch.offsets[row + 1]!; t++)
      if (weights[t] !== 0 && weights[t + 1] !== 0) next[t] = rho * (now[t + 1]! - old[t + 1]!);
  return next;
}

function loss(input: ObjectiveInput, { rho, bootstrap }: z.output<typeof params>): Weighed {
  const { weights, factors, advantages } = input;
  const now = column(input.now, "logp", "rover");
  const old = column(input.old, "logp", "rover");
  const next = bootstrap === 0 ? undefined : following(input, rho);
  const gradient = new Float64Array(weights.length);
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const error = rho * (now[t]! - old[t]!) - advantages[t]! - bootstrap * (next?.[t] ?? 0);
    total += factors[t]! * error * error;
    gradient[t] = 2 * rho * factors[t]! * error;
  }
  checkLoss(total, input, {
    "the policy's log-prob": now,
    logp_old: old,
    "the next state's mean log-prob": next,
  });
  return { loss: total, gradients: { logp: gradient } };
}

export const rover = objective({
  name: "rover",
  summary:
    "The log-ratio is the Q of a random policy; it is regressed on the advantage plus the next state's mean Q.",
  formula: "ℓ = (Q(s,a) − sg[A + mean_a′ Q(s′,a′)])², Q = ρ (log π − log π_old)",
  sources: ["Random Policy Valuation is Enough for LLM Reasoning with Verifiable Rewards"],
  params,
  create: (options): Objective => ({
    channels: options.bootstrap === 0 ? ["logp"] : ["logp", "mean_logp"],
    needs: { before: options.bootstrap === 0 ? [] : ["mean_logp"] },
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
