import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam } from "../anchor.ts";
import { logSumExp, softmaxInPlace } from "../numbers.ts";
import { anchorModels, rowScores, rowSums, spread } from "../rowLevel.ts";

const params = z.object({
  gamma: param(z.number().positive().default(1), "Temperature γ of the reward in the target π₀ exp(r/γ)."),
  anchor: anchorParam("reference", ": π₀ of the target"),
});

function loss(input: ObjectiveInput, { gamma, anchor }: z.output<typeof params>): Weighed {
  const policy = rowSums(input, "none");
  const toWriter = rowSums(input, "behaviour");
  const toPrior = rowSums(input, anchor);
  const scores = rowScores(input);
  const groups = rowsOfGroups(input.batch)
    .map((rows) => rows.filter((row) => policy.count[row]! > 0 && !Number.isNaN(scores[row]!)))
    .filter((rows) => rows.length > 0);
  const slopes = new Float64Array(input.batch.rows);
  let total = 0;
  for (const rows of groups) {
    // target / writer and policy / writer, each to sum 1 over the group
    const target = Float64Array.from(
      rows,
      (row) => scores[row]! / gamma + toWriter.value[row]! - toPrior.value[row]!,
    );
    const logs = Float64Array.from(rows, (row) => toWriter.value[row]!);
    const normaliser = logSumExp(logs);
    softmaxInPlace(target);
    softmaxInPlace(logs);
    total += normaliser / groups.length;
    rows.forEach((row, i) => {
      total -= (target[i]! * policy.value[row]!) / groups.length;
      slopes[row] = (logs[i]! - target[i]!) / groups.length;
    });
  }
  return { loss: total, gradients: { logp: spread(slopes, policy, input) } };
}

export const brain = objective({
  name: "brain",
  summary:
    "Moves the policy to the posterior of the prior given good rewards, by self-normalised weights within a group.",
  formula:
    "∇ℓ = −Σ_i (α_i − β_i) ∇log π(y_i), α ∝ π₀ exp(r/γ)/π_old, β ∝ π/π_old; ℓ = −Σ α_i log π(y_i) + log Σ π/π_old",
  sources: [
    "BRAIn: Bayesian Reward-conditioned Amortized Inference for natural language generation from feedback",
  ],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
