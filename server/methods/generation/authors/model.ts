import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { taskAuthor, param } from "../../../core/declaration.ts";

export const model = taskAuthor({
  name: "model",
  summary:
    "Another language model of the run (`models:`) writes the task: a teacher, or a copy of the policy.",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
    "Socratic-Zero : Bootstrapping Reasoning via Data-Free Agent Co-evolution",
  ],
  params: z.object({
    model: param(refers({ to: "model", also: ["reference"] }), "Its name in `models`, or `reference`."),
    max_tokens: param(z.number().int().min(1).default(256), "Longest task, in tokens."),
    temperature: param(z.number().min(0).default(1), "Sampling temperature."),
  }),
  create: (params) => ({ kind: "policy", ...params }),
});
