import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  beta: param(
    z.number().positive().default(1),
    "Temperature β: the smaller it is, the more the best rollouts count.",
  ),
  cap: param(z.number().positive().default(20), "Largest weight."),
  normalise: param(
    z.boolean().default(false),
    "Divides the weights by their mean over the tokens that train.",
  ),
});

function loss(input: ObjectiveInput, { beta, cap, normalise }: z.output<typeof params>): Weighed {
  const { advantages, weights } = input;
  const own = advantages.map((advantage) => Math.min(Math.exp(advantage / beta), cap));
  let sum = 0;
  let count = 0;
  if (normalise)
    for (let t = 0; t < own.length; t++)
      if (weights[t] !== 0) {
        sum += own[t]!;
        count += 1;
      }
  const scale = sum > 0 ? count / sum : 1;
  return weightedLikelihoodOf(input, (_, t) => scale * own[t]!);
}

export const advantageWeighted = objective({
  name: "advantage_weighted",
  aliases: ["awr"],
  summary:
    "Likelihood weighted by the exponential of the advantage: a regression towards the rollouts that did well.",
  formula: "ℓ = −min(exp(A/β), cap) log π",
  sources: ["Advantage-Weighted Regression: Simple and Scalable Off-Policy Reinforcement Learning"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
