import { z } from "zod";
import { guidanceRatio, param } from "../../../core/declaration.ts";
import type { GuidedToken } from "../../../core/slots/guidance.ts";

/**
 * Log-prob of a token under the exploring policy: that of an inserted text in its pool; of the attempt, which was chosen for
 * having failed, the policy's own divided by the error rate, spread over the attempt; after it the policy's own.
 */
function exploring({ attempt, behaviour, attempt_tokens }: GuidedToken, errors: number): number {
  if (!attempt || !(errors > 0)) return behaviour;
  return behaviour - Math.log(errors) / Math.max(1, attempt_tokens);
}

export const mixture = guidanceRatio({
  name: "mixture",
  summary:
    "The ratio of helped rollouts is against a mixture of the old policy and the exploring policy, which inserted a text into a failed attempt.",
  formula:
    "ρ = π / ((1 − α) π_old + α μ); μ: its frequency in the pool for an inserted token, π_old / errors^(1/n) for the n of the attempt, π_old after it",
  sources: ["REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation"],
  params: z.object({
    alpha: param(
      z.union([z.number().min(0).max(1), z.literal("share")]).default(0.12),
      "α: a number, or the share of the step's rollouts that were helped.",
    ),
    errors: param(
      z.enum(["group", "step"]).default("group"),
      "Which error rate: that of the rollout's group, or of all unhelped rollouts of the step.",
    ),
    plain: param(
      z.enum(["keep", "mixture"]).default("keep"),
      "Whether unhelped rollouts keep the objective's own ratio or count against the mixture too; the exploring policy would not have generated them, so that is (1 − α) π_old.",
    ),
  }),
  create: ({ alpha, errors, plain }) => {
    const shareOf = ({ step }: GuidedToken): number => (alpha === "share" ? step.explored : alpha);
    return {
      proximal: "given",
      step: alpha === "share" || errors === "step",
      plain: plain === "mixture",
      denominator: (token) => {
        const share = shareOf(token);
        const old = token.given ? token.proximal : token.behaviour;
        if (!token.helped) return Math.log1p(-share) + old;
        const rate = errors === "step" ? token.step.errors : token.error_rate;
        return Math.log((1 - share) * Math.exp(old) + share * Math.exp(exploring(token, rate)));
      },
    };
  },
});
