import { z } from "zod";
import { taskSelector, param } from "../../../core/declaration.ts";

export const successBand = taskSelector({
  name: "success_band",
  summary: "Tasks whose last group's success rate is within a band, upper bound included.",
  formula: "w(x) = 1[low < p̂(x) ≤ high], and p̂ = low counts where low = 0",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: z.object({
    low: param(z.number().min(0).max(1).default(0), "Lower end of the band, excluded unless it is 0."),
    high: param(z.number().min(0).max(1).default(1), "Upper end of the band, included."),
  }),
  create: ({ low, high }) => ({
    weigh: ({ rates }) => {
      const rate = rates.at(-1)!;
      return (rate > low || (rate === 0 && low === 0)) && rate <= high ? 1 : 0;
    },
  }),
});
