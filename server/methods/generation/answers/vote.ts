import { z } from "zod";
import { isPattern } from "../../../lib/textSpans.ts";
import { lastLine } from "../pattern.ts";
import { asking, chatParams, type Asker } from "../../../lib/chatCompletions.ts";
import { taskAnswer, param } from "../../../core/declaration.ts";
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
    by: param(
      z.union([z.enum(["author", "policy"]), z.object(chatParams)]).default("author"),
      "Which model attempts the task: `author`, `policy`, or the `url` and `model` of a server.",
    ),
    request: param(
      template("prompt").default("{prompt}"),
      "Template of the request: `{prompt}` of the new task.",
    ),
    max_tokens: param(
      z.number().int().min(1).optional(),
      "Longest attempt, in tokens; default: the author's.",
    ),
    temperature: param(
      z.number().min(0).optional(),
      "Sampling temperature of the attempts; default: the author's.",
    ),
    samples: param(z.number().int().min(1).default(8), "Attempts."),
    at_least: param(z.number().gt(0).max(1).default(0.5), "Share of the attempts that must agree."),
    pattern: param(
      z.string().refine(isPattern, { message: "must be a regular expression" }).default(lastLine),
      "Regular expression whose first group is the answer of an attempt; default: its last line.",
    ),
  }),
  create: ({ by, request, ...params }) => ({
    kind: "vote",
    ...params,
    ...(by === "author" ? {} : { voter: by === "policy" ? by : asking(by, voter) }),
    ask: (prompt) => fill(request, { prompt }),
  }),
});
