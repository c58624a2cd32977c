import { z } from "zod";
import { guidanceRatio, param } from "../../../core/declaration.ts";
import { clippedLoss } from "./clippedLoss.ts";

export const sameContext = guidanceRatio({
  name: "same_context",
  summary:
    "Rollouts train in the context that they were generated in, with the objective's own ratio. For prefilled tokens that train, the ratio is against the old policy.",
  formula: "ρ = π(o | x, help) / π_old(o | x, help)",
  sources: [
    "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning",
    "Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling",
  ],
  params: z.object({
    clip: param(
      z
        .strictObject({
          low: param(z.number().min(0).max(1).default(0.2), "How far the ratio may fall below 1."),
          high: param(z.number().min(0).default(0.2), "How far the ratio may rise above 1."),
          dual: param(
            z.number().gt(1).nullable().default(null),
            "Where the advantage is negative, the largest ratio that counts.",
          ),
        })
        .nullable()
        .default(null),
      "A separate clip for prefilled tokens; null: the objective's clip.",
    ),
  }),
  create: ({ clip }) => ({
    proximal: "given",
    denominator: ({ given, proximal, behaviour }) => (given ? proximal : behaviour),
    ...(clip === null ? {} : { instead: { on: "given", loss: clippedLoss(clip) } }),
  }),
});
