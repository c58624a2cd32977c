import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepAdvantage = replayAdmission({
  name: "advantage",
  summary: "Rollouts whose mean advantage is above a bound are kept.",
  formula: "keep i ⇔ mean_t A_t > above",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  ],
  params: z.object({
    above: z
      .number()
      .default(0)
      .describe("The bound; the released code of the source keeps what is above 0."),
  }),
  create:
    ({ above }) =>
    ({ advantage }) =>
      advantage > above,
});
