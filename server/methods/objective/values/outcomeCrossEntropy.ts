import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { clamped, sigmoid, softplus } from "../numbers.ts";
import { anchorModels, rowMass, rowScores, rowSums, spread } from "../rowLevel.ts";

const params = z.object({ beta: betaParam(0.05), anchor: anchorParam("reference") });

function loss(input: ObjectiveInput, { beta, anchor }: z.output<typeof params>): Weighed {
  const sums = rowSums(input, anchor);
  const [scores, mass] = [rowScores(input), rowMass(input)];
  let total = 0;
  let right = 0;
  let rows = 0;
  const slopes = scores.map((score, row) => {
    if (Number.isNaN(score) || sums.count[row] === 0) return 0;
    const [logit, label] = [beta * sums.value[row]!, clamped(score, 0, 1)];
    total += mass[row]! * (softplus(logit) - label * logit);
    right += logit > 0 === label > 0.5 ? 1 : 0;
    rows += 1;
    return mass[row]! * beta * (sigmoid(logit) - label);
  });
  return {
    loss: total,
    gradients: { logp: spread(slopes, sums, input) },
    metrics: rows === 0 ? {} : { "update/outcome_accuracy": right / rows },
  };
}

export const outcomeCrossEntropy = objective({
  name: "outcome_cross_entropy",
  aliases: ["implicit_prm"],
  summary:
    "Fits β times a response's log-ratio to whether the response is right, so that each token's ratio becomes a process reward.",
  formula: "ℓ = BCE(σ(β Σ log π/π_ref), R), R kept within [0, 1]",
  sources: ["Free Process Rewards without Process Labels", "Process Reinforcement through Implicit Rewards"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
