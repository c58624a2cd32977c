import { z } from "zod";
import { klEstimator } from "../../core/declaration.ts";
import { wholeEstimator, wholeParams } from "./whole.ts";

export const full = klEstimator({
  name: "full",
  summary:
    "The exact divergence at each token over the whole vocabulary, or over the other model's likeliest tokens. It is not an estimate; it costs the other model's full distributions.",
  formula:
    "Σ_v π(v) log(π(v) / π_model(v)), or with the two exchanged (forward); with `top_k` over v in the model's top k, both brought to a sum of 1 there",
  sources: ["On-Policy Distillation of Language Models: Learning from Self-Generated Mistakes"],
  params: z.object(wholeParams),
  create: (options) => wholeEstimator(options),
});
