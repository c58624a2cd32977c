import { z } from "zod";
import { guidanceRatio } from "../../config/declaration.ts";
import type { GuidedToken } from "../types.ts";

/**
 * Log-prob of a token under whoever explores: that of an inserted text in its pool; of the attempt, which was chosen for
 * having failed, the policy's own divided by the error rate, spread over the attempt; behind it the policy's own.
 */
function exploring({ attempt, behaviour, error_rate, attempt_tokens }: GuidedToken): number {
  if (!attempt || !(error_rate > 0)) return behaviour;
  return behaviour - Math.log(error_rate) / Math.max(1, attempt_tokens);
}

export const mixture = guidanceRatio({
  name: "mixture",
  summary:
    "Helped rollouts count against a mixture of the old policy and of the one that explores, which inserted a text into a failed attempt.",
  formula: "ρ = π / ((1 − α) π_old + α μ)",
  sources: ["REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation"],
  status: "approximate",
  params: z.object({
    alpha: z.number().min(0).max(1).default(0.12).describe("α: share of rollouts that explore."),
  }),
  create: ({ alpha }) => ({
    proximal: "given",
    denominator: (token) => {
      const old = token.given ? token.proximal : token.behaviour;
      return Math.log((1 - alpha) * Math.exp(old) + alpha * Math.exp(exploring(token)));
    },
  }),
});
