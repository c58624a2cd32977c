import { z } from "zod";
import { refill, param } from "../../../core/declaration.ts";

export const adaptiveRefill = refill({
  name: "adaptive",
  summary:
    "Draws what is missing divided by the share admitted so far in the step, up to a bound on the groups drawn.",
  formula: "more = ⌈(wanted − admitted) · drawn / admitted⌉, Σ drawn ≤ factor · wanted",
  sources: [
    "Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning",
    "GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning",
  ],
  params: z.object({
    factor: param(
      z.number().gt(1).default(4),
      "Groups drawn in a step are at most this many times `rollout.prompts`.",
    ),
  }),
  create: ({ factor }) => ({
    more: ({ wanted, admitted, drawn }) => {
      const missing = wanted - admitted;
      const left = Math.floor(factor * wanted) - drawn;
      if (missing <= 0 || left <= 0) return 0;
      // With nothing admitted the rate is unknown: double what was drawn.
      const more = admitted === 0 ? Math.max(drawn, missing) : Math.ceil((missing * drawn) / admitted);
      return Math.min(more, left);
    },
  }),
});
