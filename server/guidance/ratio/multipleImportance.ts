import { z } from "zod";
import { guidanceRatio } from "../../config/declaration.ts";

/** log of the mean of π_old and of the source's probability, which is ½ (π_old + 1) where it is unknown. */
export function logMixed(proximal: number, source: number): number {
  const old = Math.exp(proximal);
  const other = Number.isNaN(source) ? (old + 1) / 2 : Math.exp(source);
  return Math.log((old + other) / 2);
}

export const multipleImportance = guidanceRatio({
  name: "multiple_importance",
  aliases: ["mis"],
  summary:
    "Multiple importance sampling: given tokens count against the mean of the old policy and of whoever wrote them; of a source that cannot be asked ½ (π_old + 1) is taken.",
  formula: "ρ = 2 π / (π_old + π_ω), π_ω = ½ (π_old + 1) where it is unknown",
  sources: [
    "RL-PLUS: Countering Capability Boundary Collapse of LLMs in Reinforcement Learning with Hybrid-policy Optimization",
  ],
  params: z.object({}),
  create: () => ({
    proximal: "given",
    denominator: ({ given, proximal, behaviour }) => (given ? logMixed(proximal, behaviour) : behaviour),
  }),
});
