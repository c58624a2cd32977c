import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { perRow, value } from "../perRow.ts";

const params = z.object({
  each: param(z.number().default(0.1), "Reward of each call of a tool."),
  most: param(z.number().default(1), "Upper bound on the reward of all."),
});

export const toolUse = rewardTerm({
  name: "tool_use",
  summary:
    "Rewards calls of tools, up to a bound, whatever they lead to. Give it a weight that fades, and `attempts: episode`.",
  formula: "r = min(most, each · calls)",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  ],
  judges: "form",
  range: ({ most }) => [0, most],
  computes: () => true,
  params,
  create: ({ each, most }) =>
    perRow(({ turns = [] }) =>
      value(Math.min(most, each * turns.filter(({ name }) => name !== undefined).length)),
    ),
});
