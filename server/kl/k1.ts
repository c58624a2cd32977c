import { z } from "zod";
import { klEstimator } from "../config/declaration.ts";

export const k1 = klEstimator({
  name: "k1",
  aliases: ["kl"],
  summary: "The log-ratio itself: unbiased, high variance; in the loss its gradient has mean zero on policy.",
  formula: "k1 = log π − log π_ref; ∂k1/∂log π = 1",
  sources: ["Approximating KL Divergence (Schulman)"],
  params: z.object({}),
  create: () => ({ value: (logp, other) => logp - other, slope: () => 1 }),
});
