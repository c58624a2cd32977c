import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { clamped } from "../numbers.ts";
import { rowAdvantages, rowScores } from "../rowLevel.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  weight: param(
    z.enum(["one", "reward", "advantage"]).default("reward"),
    "one: every rollout counts equally (for rewards in the prompt: RiC); reward or advantage: signed weights.",
  ),
  low: param(z.number().optional(), "Smallest weight; O1-Pruner: −2."),
  high: param(z.number().optional(), "Largest weight; O1-Pruner: 4."),
  standardise: param(
    z.boolean().default(false),
    "After the clip, subtracts the weights' mean and divides by their standard deviation over the rollouts.",
  ),
});

/** Mean 0 and sample standard deviation 1 over the rows that have a weight; all equal: 0. */
function standardised(values: Float64Array): Float64Array {
  const known = values.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((a, b) => a + b, 0) / known.length;
  const spread = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (known.length - 1));
  return values.map((value) => (spread > 0 ? (value - mean) / spread : value - mean));
}

function rowWeights(input: ObjectiveInput, options: z.output<typeof params>): Float64Array {
  const { weight, low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY, standardise } = options;
  const scores = weight === "advantage" ? rowAdvantages(input) : rowScores(input);
  const clipped = scores.map((score) =>
    Number.isNaN(score) ? score : clamped(weight === "one" ? 1 : score, low, high),
  );
  return standardise ? standardised(clipped) : clipped;
}

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const rows = rowWeights(input, options);
  return weightedLikelihoodOf(input, (row) => (Number.isNaN(rows[row]!) ? 0 : rows[row]!));
}

export const weightedLikelihood = objective({
  name: "weighted_likelihood",
  aliases: ["sft"],
  summary:
    "Likelihood of the rollouts, each with a weight: 1, its reward or its advantage. Weights may be negative.",
  formula: "ℓ = −w log π",
  sources: [
    "O1-Pruner: Length-Harmonizing Fine-Tuning for O1-Like Reasoning Pruning",
    "Rewards-in-Context: Multi-objective Alignment of Foundation Models with Dynamic Preference Adjustment",
  ],
  params,
  actsOn: ({ weight }) => (weight === "one" ? ["logged", "selected"] : undefined),
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
