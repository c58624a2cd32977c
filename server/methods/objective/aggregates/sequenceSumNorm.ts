import { z } from "zod";
import { aggregate, param } from "../../../core/declaration.ts";
import { alike, rolloutsThatCount } from "./normalisers.ts";

export const sequenceSumNorm = aggregate({
  name: "sequence_sum_norm",
  aliases: ["dr_grpo", "seq-mean-token-sum-norm"],
  summary: "Token sums over a fixed length, so that long responses are not favoured.",
  formula: "L = Σ w ℓ / (rollouts × budget)",
  sources: ["Understanding R1-Zero-Like Training: A Critical Perspective"],
  params: z.object({
    budget: param(
      z.number().positive().optional(),
      "Length that every rollout's sum is divided by; default: rollout.max_tokens.",
    ),
    empty_rows: param(
      z.enum(["skip", "count"]).default("count"),
      "Whether rollouts without a trained token are counted; verl skips them.",
    ),
  }),
  create:
    ({ budget, empty_rows }, context) =>
    (counts, batch) =>
      alike(batch, rolloutsThatCount(counts, batch, empty_rows) * (budget ?? context.max_tokens)),
});
