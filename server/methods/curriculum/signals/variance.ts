import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import { outcomes } from "./measured.ts";

export const variance = signal({
  name: "variance",
  aliases: ["success_variance"],
  summary:
    "How undecided an arm is: the spread of its successes, largest where half of the rollouts succeed.",
  formula: "observed: successes; score √(p(1 − p)), or p(1 − p) with `root: false`",
  sources: [
    "CurES: From Gradient Analysis to Efficient Curriculum Learning for Reasoning LLMs",
    "Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning",
  ],
  gives: ["rate", "by_rollout"],
  params: z.object({
    root: param(z.boolean().default(true), "The standard deviation √(p(1 − p)); else p(1 − p)."),
  }),
  create: ({ root }) => ({
    measure: outcomes,
    score: (p) => {
      const spread = Math.max(0, p * (1 - p));
      return root ? Math.sqrt(spread) : spread;
    },
  }),
});
