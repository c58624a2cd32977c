import { z } from "zod";
import { asking, chatParams, type Asker } from "../../../lib/chatCompletions.ts";
import { taskAuthor, param } from "../../../core/declaration.ts";

const author: Asker = {
  who: "The author of tasks",
  code: "author-unreachable",
  action: "Start the server, or correct `author.url`, `author.model` and `author.key`.",
};

export const endpoint = taskAuthor({
  name: "endpoint",
  summary: "A model at an OpenAI-compatible HTTP endpoint writes the task.",
  formula: "POST url/chat/completions",
  sources: [
    "Socratic-Zero : Bootstrapping Reasoning via Data-Free Agent Co-evolution",
    "SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning",
  ],
  params: z.object({
    ...chatParams,
    max_tokens: param(z.number().int().min(1).default(512), "Longest task, in tokens."),
    temperature: param(z.number().min(0).default(1), "Sampling temperature."),
  }),
  create: (chosen) => ({
    kind: "endpoint",
    complete: asking(chosen, author),
    max_tokens: chosen.max_tokens,
    temperature: chosen.temperature,
  }),
});
