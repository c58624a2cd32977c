import { z } from "zod";
import { guidanceAmount, param } from "../../../core/declaration.ts";

export const levels = guidanceAmount({
  name: "levels",
  summary: "A share of the help drawn from a list for every group; all rollouts of the group get that share.",
  formula: "share ~ U{shares}",
  sources: ["Beyond Accuracy: Dissecting Mathematical Reasoning for LLMs Under Reinforcement Learning"],
  params: z.object({
    shares: param(
      z.array(z.number().min(0).max(1)).min(1).default([0, 0.25, 0.5, 0.75, 1]),
      "The shares to draw from, each equally likely.",
    ),
  }),
  create: ({ shares }) => ({
    rounds: 1,
    spread: "retries",
    share: ({ shared }) => ({ share: shares[shared.integer(shares.length)]! }),
  }),
});
