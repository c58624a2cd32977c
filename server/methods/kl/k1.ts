import { z } from "zod";
import { klEstimator } from "../../core/declaration.ts";
import { estimatorOf, estimatorParams } from "./estimate.ts";

export const k1 = klEstimator({
  name: "k1",
  aliases: ["kl"],
  summary: "The log-ratio itself: unbiased, high variance; in the loss its gradient has mean zero on policy.",
  formula: "k1 = log π − log π_ref; ∂k1/∂log π = 1; forward: ρ log ρ, ρ = π_ref / π",
  sources: ["Approximating KL Divergence (Schulman)"],
  params: z.object(estimatorParams),
  create: (options) =>
    estimatorOf(
      { value: (d) => d, slope: () => 1 },
      { value: (d) => -d * Math.exp(-d), slope: (d) => (d - 1) * Math.exp(-d) },
      options,
    ),
});
