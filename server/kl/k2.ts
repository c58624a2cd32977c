import { z } from "zod";
import { klEstimator } from "../config/declaration.ts";

export const k2 = klEstimator({
  name: "k2",
  aliases: ["mse"],
  summary:
    "Half the squared log-ratio: biased, low variance; in the loss its gradient is that of the reverse KL on policy.",
  formula: "k2 = (log π − log π_ref)² / 2; ∂k2/∂log π = log π − log π_ref",
  sources: ["Approximating KL Divergence (Schulman)"],
  params: z.object({}),
  create: () => ({ value: (logp, other) => 0.5 * (logp - other) ** 2, slope: (logp, other) => logp - other }),
});
