import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { guidanceAmount, param } from "../../../core/declaration.ts";

export const uniform = guidanceAmount({
  name: "uniform",
  summary: "A share drawn for every rollout; both ends may follow a schedule.",
  formula: "share ~ U(low, high)",
  sources: [
    "Learning to Generate Better Than Your LLM",
    "Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling",
  ],
  params: z.object({
    low: param(schedulable(z.number().min(0).max(1)).default(0), "Smallest share."),
    high: param(schedulable(z.number().min(0).max(1)).default(1), "Largest share."),
  }),
  create: ({ low, high }) => ({
    rounds: 1,
    spread: "retries",
    share: ({ clock, random }) => {
      const [from, to] = [valueAt(low, clock), valueAt(high, clock)];
      return { share: Math.min(1, Math.max(0, from + (to - from) * random.next())) };
    },
  }),
});
