import { z } from "zod";
import { klEstimator } from "../../core/declaration.ts";
import { estimatorOf, estimatorParams } from "./estimate.ts";

const half = { value: (d: number) => 0.5 * d * d, slope: (d: number) => d };

export const k2 = klEstimator({
  name: "k2",
  aliases: ["mse"],
  summary:
    "Half the squared log-ratio: biased, low variance; in the loss its gradient is that of the reverse KL on policy.",
  formula: "k2 = (log π − log π_ref)² / 2; ∂k2/∂log π = log π − log π_ref; the same for either direction",
  sources: ["Approximating KL Divergence (Schulman)"],
  params: z.object(estimatorParams),
  create: (options) => estimatorOf(half, half, options),
});
