import { z } from "zod";
import { taskAuthor } from "../../../core/declaration.ts";

export const policy = taskAuthor({
  name: "policy",
  summary: "The current policy writes the task.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: z.object({
    max_tokens: z.number().int().min(1).default(256).describe("Longest task, in tokens."),
    temperature: z.number().min(0).default(1).describe("Sampling temperature."),
  }),
  create: (params) => ({ kind: "policy", ...params }),
});
