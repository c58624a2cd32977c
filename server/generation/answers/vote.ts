import { z } from "zod";
import { isPattern } from "../../textSpans.ts";
import { lastLine } from "../pattern.ts";
import { taskAnswer } from "../../config/declaration.ts";

export const vote = taskAnswer({
  name: "vote",
  summary:
    "The answer that most of the author's own attempts give; where too few agree, the task is dropped.",
  formula: "a* = argmax_a #{i : a_i = a}, kept where #{a_i = a*} / n ≥ at_least",
  sources: [
    "SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning",
    "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
  ],
  params: z.object({
    samples: z.number().int().min(1).default(8).describe("Attempts."),
    at_least: z.number().gt(0).max(1).default(0.5).describe("Share of them that must agree."),
    pattern: z
      .string()
      .refine(isPattern, { message: "must be a regular expression" })
      .default(lastLine)
      .describe("Regular expression whose first group is the answer of an attempt; default: its last line."),
  }),
  create: (params) => ({ kind: "vote", ...params }),
});
