import { z } from "zod";
import { taskAuthor, param } from "../../../core/declaration.ts";

export const policy = taskAuthor({
  name: "policy",
  summary: "The current policy writes the task.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: z.object({
    max_tokens: param(z.number().int().min(1).default(256), "Longest task, in tokens."),
    temperature: param(z.number().min(0).default(1), "Sampling temperature."),
  }),
  create: (params) => ({ kind: "policy", ...params }),
});
