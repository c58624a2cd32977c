import { z } from "zod";
import { klEstimator, param } from "../../core/declaration.ts";
import { wholeEstimator, wholeParams } from "./whole.ts";

export const jsd = klEstimator({
  name: "jsd",
  aliases: ["generalized_jsd"],
  summary:
    "The generalised Jensen–Shannon divergence at each token over the whole vocabulary: bounded, and between the two directions, which the entry's `direction` does not choose here. It costs the other model's full distributions.",
  formula:
    "β KL(π_model ‖ m) + (1 − β) KL(π ‖ m), m = β π_model + (1 − β) π, both at `temperature`; ∂/∂logit = (p / temperature) (g − Σ p g), g = (1 − β) log(π / m)",
  sources: [
    "On-Policy Distillation of Language Models: Learning from Self-Generated Mistakes",
    "Self-Distilled Reasoner: On-Policy Self-Distillation for Large Language Models",
  ],
  params: z.object({
    beta: param(
      z.number().gt(0).lt(1).default(0.5),
      "β, the other model's share of the mixture. TRL's 0 and 1 are `full` with `direction: forward` and `reverse`.",
    ),
    ...wholeParams,
  }),
  create: ({ beta, ...options }) => wholeEstimator(options, { beta }),
});
