import { z } from "zod";
import { taskGate, param } from "../../../core/declaration.ts";

export const band = taskGate({
  name: "success_band",
  aliases: ["band"],
  summary: "The success rate of the policy's attempts is within a band, bounds included.",
  formula: "low ≤ p̂ ≤ high",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: z.object({
    low: param(z.number().min(0).max(1).default(0.125), "Lowest rate."),
    high: param(z.number().min(0).max(1).default(0.875), "Highest rate."),
  }),
  create: ({ low, high }) => ({
    tries: true,
    admit: ({ tried }) => {
      const rate = tried === undefined ? Number.NaN : tried.successes / tried.rewards.length;
      return rate >= low && rate <= high
        ? { admitted: true }
        : {
            admitted: false,
            reason:
              rate < low
                ? "it is solved too rarely"
                : rate > high
                  ? "it is solved too often"
                  : "no attempt could be scored",
          };
    },
  }),
});
