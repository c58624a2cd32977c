import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { baseline, param } from "../../../core/declaration.ts";

export const constant = baseline({
  name: "constant",
  summary:
    "Reward minus a number: with rewards of 0 and 1, value 0.5 and scale `sign`, a right answer gets +1 and a wrong one −1.",
  formula: "A = r − c",
  sources: ["The Surprising Effectiveness of Negative Reinforcement in LLM Reasoning"],
  params: z.object({ value: param(schedulable(z.number()).default(0.5), "c") }),
  create: ({ value }) => ({
    centre: ({ rewards, clock }) => {
      const c = valueAt(value, clock);
      return rewards.map((reward) => reward - c);
    },
  }),
});
