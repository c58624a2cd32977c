import { z } from "zod";
import { taskSelector, param } from "../../../core/declaration.ts";

export const rewardRange = taskSelector({
  name: "reward_range",
  aliases: ["information"],
  summary: "Tasks in proportion to the spread of rewards in their last group.",
  formula: "w(x) = max_i r_i − min_i r_i, or max_i r_i − mean_i r_i",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
  ],
  params: z.object({
    below: param(z.enum(["min", "mean"]).default("min"), "What the best reward is compared with."),
  }),
  create: ({ below }) => ({ weigh: ({ most, least, mean }) => most - (below === "min" ? least : mean) }),
});
