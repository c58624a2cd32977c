import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { guidanceTrigger, param } from "../../../core/declaration.ts";

export const fraction = guidanceTrigger({
  name: "fraction",
  summary: "Helps each rollout with a probability.",
  formula: "helped ~ Bernoulli(share)",
  sources: [
    "Learning to Generate Better Than Your LLM",
    "ThinkTuning: Instilling Cognitive Reflections without Distillation",
  ],
  params: z.object({ share: param(schedulable(z.number().min(0).max(1)).default(0.5), "The probability.") }),
  create: ({ share }) => ({
    looks: "before",
    members: ({ size }, { clock, random }) => {
      const odds = valueAt(share, clock);
      return Array.from({ length: size }, (_, i) => i).filter((i) => random.fork(i).next() < odds);
    },
  }),
});
