import { z } from "zod";
import { klEstimator, param } from "../../core/declaration.ts";

const refuse = (): never => {
  throw new Error("the full divergence is a channel, not a function of two log-probs");
};

export const full = klEstimator({
  name: "full",
  summary:
    "The exact divergence at each token over the whole vocabulary, or over the other model's likeliest tokens. It is not an estimate; it costs the other model's full distributions.",
  formula:
    "Σ_v π(v) log(π(v) / π_model(v)), or with the two exchanged (forward); with `top_k` over v in the model's top k, both brought to a sum of 1 there",
  sources: ["On-Policy Distillation of Language Models: Learning from Self-Generated Mistakes"],
  params: z.object({
    top_k: param(
      z.number().int().min(2).nullable().default(null),
      "Top-k distillation: compares only the other model's k likeliest tokens at each position, and those as likely as the last of them. Default: all.",
    ),
  }),
  create: ({ top_k }) => ({
    value: refuse,
    slope: refuse,
    full: true,
    ...(top_k === null ? {} : { top_k }),
  }),
});
