import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam } from "../anchor.ts";
import { column } from "../column.ts";
import { clamped } from "../numbers.ts";
import { anchorColumn, anchorModels, rowAdvantages, rowSums } from "../rowLevel.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  variant: param(
    z.enum(["response", "token", "reference_free"]).default("response"),
    "Which ratio to the reference is the weight: the response's (A-LoL), each token's (A-LoL seq.), or none (A-LoL ref. free).",
  ),
  clip: param(z.number().min(0).default(0.9), "How far the ratio may leave 1; the released code: 0.9."),
  positive: param(z.boolean().default(true), "Only rollouts with a positive advantage train."),
  anchor: anchorParam("reference"),
});

function loss(input: ObjectiveInput, { variant, clip, positive, anchor }: z.output<typeof params>): Weighed {
  const advantages = rowAdvantages(input);
  const trusted = (ratio: number): number => clamped(Math.exp(ratio), 1 - clip, 1 + clip);
  const logp = column(input.now, "logp", "the objective");
  const other = variant === "token" ? anchorColumn(input.old, anchor) : undefined;
  const sums = variant === "response" ? rowSums(input, anchor) : undefined;
  return weightedLikelihoodOf(input, (row, t) => {
    const advantage = advantages[row]!;
    if (Number.isNaN(advantage) || (positive && advantage <= 0)) return 0;
    if (variant === "reference_free") return advantage;
    return advantage * trusted(sums === undefined ? logp[t]! - other![t]! : sums.value[row]!);
  });
}

export const alol = objective({
  name: "alol",
  aliases: ["a_lol"],
  summary:
    "Advantage-weighted likelihood of recorded responses that beat their baseline, weighted by a clipped ratio to the reference.",
  formula: "ℓ = −A sg[clip(π/π_ref, 1 − ε, 1 + ε)] log π, where A > 0",
  sources: ["Improving Language Models with Advantage-based Offline Policy Gradients"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: options.variant === "reference_free" ? [] : anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
