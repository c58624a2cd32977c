import { z } from "zod";
import { guidanceAmount, param } from "../../../core/declaration.ts";

export const ladder = guidanceAmount({
  name: "ladder",
  summary: "More and more of the help, round after round, until a rollout of the group succeeds.",
  formula: "share = steps[round], while no rollout of the round before succeeded",
  sources: ["GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning"],
  params: z.object({
    steps: param(
      z.array(z.number().min(0).max(1)).min(1).default([0.25, 0.5, 0.75]),
      "Shares of the help, from little to much.",
    ),
  }),
  create: ({ steps }) => ({
    rounds: steps.length,
    spread: "retries",
    share: ({ round, earlier }) => {
      const [share, last] = [steps[round], earlier.at(-1)];
      if (share === undefined || (round > 0 && last !== undefined && last.successes > 0)) return undefined;
      return { share };
    },
  }),
});
