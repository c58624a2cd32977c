import { z } from "zod";
import { isPattern } from "../../../lib/textSpans.ts";
import { lastLine } from "../pattern.ts";
import { asking, chatParams, type Asker } from "../../../lib/chatCompletions.ts";
import { taskAnswer } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";

const voter: Asker = {
  who: "The model that answers new tasks",
  code: "voter-unreachable",
  action: "Start the server, or correct `answer.by`: its `url`, `model` and `key`.",
};

export const vote = taskAnswer({
  name: "vote",
  summary:
    "The answer that most attempts agree on, by the author or by another model. Where too few agree, the task is dropped.",
  formula: "a* = argmax_a #{i : a_i = a}, kept where #{a_i = a*} / n ≥ at_least",
  sources: [
    "SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning",
    "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
  ],
  params: z.object({
    by: z
      .union([z.enum(["author", "policy"]), z.object(chatParams)])
      .default("author")
      .describe("Which model attempts the task: `author`, `policy`, or the `url` and `model` of a server."),
    request: template("prompt")
      .default("{prompt}")
      .describe("Template of the request: `{prompt}` of the new task."),
    max_tokens: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe("Longest attempt, in tokens; default: the author's."),
    temperature: z
      .number()
      .min(0)
      .optional()
      .describe("Sampling temperature of the attempts; default: the author's."),
    samples: z.number().int().min(1).default(8).describe("Attempts."),
    at_least: z.number().gt(0).max(1).default(0.5).describe("Share of the attempts that must agree."),
    pattern: z
      .string()
      .refine(isPattern, { message: "must be a regular expression" })
      .default(lastLine)
      .describe("Regular expression whose first group is the answer of an attempt; default: its last line."),
  }),
  create: ({ by, request, ...params }) => ({
    kind: "vote",
    ...params,
    ...(by === "author" ? {} : { voter: by === "policy" ? by : asking(by, voter) }),
    ask: (prompt) => fill(request, { prompt }),
  }),
});
