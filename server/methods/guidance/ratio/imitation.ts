import { z } from "zod";
import { guidanceRatio, param } from "../../../core/declaration.ts";
import type { TokenLoss } from "../../../core/slots/guidance.ts";

/** ℓ = −γ log π: what was given is learned, whatever its rollout came to. */
const imitated =
  (gamma: number): TokenLoss =>
  ({ now }) => ({ loss: -gamma * now, slope: -gamma });

export const imitation = guidanceRatio({
  name: "imitation",
  summary:
    "Learns prefilled tokens by supervised learning with a small factor, whatever reward their rollout got, so a failure after a hint does not unlearn the hint.",
  formula: "ℓ = −γ log π",
  sources: [
    "Staying in the Sweet Spot: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
  ],
  params: z.object({
    gamma: param(
      z.number().positive().default(0.001),
      "γ: factor on this loss, which is added to the objective's.",
    ),
  }),
  create: ({ gamma }) => ({
    proximal: "never",
    denominator: ({ given, behaviour, now }) => (given ? now : behaviour),
    instead: { on: "given", loss: imitated(gamma) },
  }),
});
