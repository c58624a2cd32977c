import { z } from "zod";
import { guidanceRatio, param } from "../../../core/declaration.ts";
import type { TokenLoss } from "../../../core/slots/guidance.ts";

/** ℓ = −A π / (π + γ): as if the teacher were certain of every token, and steepest where the policy is not. */
const shapedLoss =
  (gamma: number): TokenLoss =>
  ({ now, advantage }) => {
    const p = Math.exp(now);
    const shaped = p / (p + gamma);
    return { loss: -advantage * shaped, slope: (-advantage * gamma * shaped) / (p + gamma) };
  };

export const shaped = guidanceRatio({
  name: "shaped",
  summary:
    "Weights a teacher's tokens by π / (π + γ), unclipped, instead of by a ratio to a teacher whose probabilities are unknown. Rare tokens keep their influence over those that the policy would generate anyway.",
  formula: "ℓ = −A · π / (π + γ)",
  sources: [
    "Learning to Reason under Off-Policy Guidance",
    "More Than One Teacher: Adaptive Multi-Guidance Policy Optimization for Diverse Exploration",
  ],
  params: z.object({
    gamma: param(z.number().positive().default(0.1), "γ; 0.1 in the sources."),
    on: param(
      z.enum(["given", "row"]).default("given"),
      "Which tokens: the prefilled ones, or all of a helped rollout.",
    ),
  }),
  create: ({ gamma, on }) => ({
    proximal: "never",
    denominator: ({ given, behaviour, now }) => (given ? now : behaviour),
    instead: { on, loss: shapedLoss(gamma) },
  }),
});
