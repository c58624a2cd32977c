import { z } from "zod";
import { klEstimator } from "../config/declaration.ts";

const refuse = (): never => {
  throw new Error("the full divergence is a channel, not a function of two log-probs");
};

export const full = klEstimator({
  name: "full",
  summary:
    "The exact divergence over the whole vocabulary at each token: no estimate, at the cost of the other model's whole distribution.",
  formula: "Σ_v π(v) log(π(v) / π_model(v)), or with the two exchanged (forward)",
  sources: ["On-Policy Distillation of Language Models: Learning from Self-Generated Mistakes"],
  params: z.object({}),
  create: () => ({ value: refuse, slope: refuse, full: true }),
});
