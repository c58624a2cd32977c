import { z } from "zod";
import { guidanceRatio, param } from "../../../core/declaration.ts";
import type { TokenLoss } from "../../../core/slots/guidance.ts";

/** log of the mean of π_old and of the source's probability, which is ½ (π_old + 1) where it is unknown. */
export function logMixed(proximal: number, source: number): number {
  const old = Math.exp(proximal);
  const other = Number.isNaN(source) ? (old + 1) / 2 : Math.exp(source);
  return Math.log((old + other) / 2);
}

/** ℓ = −A sg[(1 − π)^γ] ρ: rare tokens count most, by the policy as it is and not as the step found it. */
const exploringLoss =
  (gamma: number): TokenLoss =>
  ({ now, anchor, advantage }) => {
    const weighed = advantage * Math.max(0, -Math.expm1(now)) ** gamma * Math.exp(now - anchor);
    return { loss: -weighed, slope: -weighed };
  };

export const multipleImportance = guidanceRatio({
  name: "multiple_importance",
  aliases: ["mis"],
  summary:
    "Multiple importance sampling: the ratio of prefilled tokens is against the mean of the old policy and their source. A source without log-probs counts as ½ (π_old + 1).",
  formula: "ρ = 2 π / (π_old + π_ω), π_ω = ½ (π_old + 1) where it is unknown; ℓ = −A (1 − sg π)^γ ρ",
  sources: [
    "RL-PLUS: Countering Capability Boundary Collapse of LLMs in Reinforcement Learning with Hybrid-policy Optimization",
  ],
  params: z.object({
    explore: param(
      z.number().min(0).default(0),
      "γ: prefilled tokens are weighted by (1 − π)^γ of the current policy, without the objective's clip (RL-PLUS: 0.5); 0: all alike, by the objective.",
    ),
  }),
  create: ({ explore }) => ({
    proximal: "given",
    denominator: ({ given, proximal, behaviour }) => (given ? logMixed(proximal, behaviour) : behaviour),
    ...(explore > 0 && { instead: { on: "given", loss: exploringLoss(explore) } }),
  }),
});
