import { z } from "zod";
import { guidanceTrigger } from "../../../core/declaration.ts";

export const always = guidanceTrigger({
  name: "always",
  summary: "Helps every group: all of its rollouts, or as many as `rollouts` says.",
  sources: [
    "Breaking the Exploration Bottleneck: Rubric-Scaffolded Reinforcement Learning for General LLM Reasoning",
    "Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling",
  ],
  params: z.object({}),
  create: () => ({ looks: "before", members: ({ size }) => Array.from({ length: size }, (_, i) => i) }),
});
