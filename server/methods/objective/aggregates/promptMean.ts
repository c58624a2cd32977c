import { z } from "zod";
import { aggregate } from "../../../core/declaration.ts";
import { promptMeans } from "./normalisers.ts";

export const promptMean = aggregate({
  name: "prompt_mean",
  aliases: ["prompt-mean"],
  summary:
    "Every group counts equally, and every trained token within it: the mean over groups of the mean over their tokens.",
  formula: "L = mean_g (Σ_{i ∈ g} Σ_t w ℓ / number of g's trained tokens); groups without one do not count",
  sources: ["The Art of Scaling Reinforcement Learning Compute for LLMs", "TRL (ScaleRLTrainer)"],
  params: z.object({}),
  create: () => promptMeans,
});
