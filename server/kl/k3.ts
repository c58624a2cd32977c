import { z } from "zod";
import { klEstimator } from "../config/declaration.ts";

export const k3 = klEstimator({
  name: "k3",
  aliases: ["low_var_kl"],
  summary: "Unbiased and never negative.",
  formula: "k3 = ρ − log ρ − 1, ρ = π_ref / π; ∂k3/∂log π = 1 − ρ",
  sources: [
    "Approximating KL Divergence (Schulman)",
    "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models",
  ],
  params: z.object({}),
  create: () => ({
    // expm1 keeps the digits that the difference loses where the two models nearly agree.
    value: (logp, other) => Math.expm1(other - logp) - (other - logp),
    slope: (logp, other) => -Math.expm1(other - logp),
  }),
});
