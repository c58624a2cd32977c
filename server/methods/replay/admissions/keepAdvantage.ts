import { z } from "zod";
import { replayAdmission, param } from "../../../core/declaration.ts";

export const keepAdvantage = replayAdmission({
  name: "advantage",
  summary: "Keeps rollouts whose mean advantage is above a bound.",
  formula: "keep i ⇔ mean_t A_t > above",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  ],
  params: z.object({
    above: param(z.number().default(0), "The bound; the paper's released code keeps advantages above 0."),
  }),
  create:
    ({ above }) =>
    ({ advantage }) =>
      advantage > above,
});
