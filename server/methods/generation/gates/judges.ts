import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskGate, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import { asking, chatParams, type Asker } from "../../../lib/chatCompletions.ts";

const judge: Asker = {
  who: "The judge of tasks",
  code: "judge-unreachable",
  action: "Start the server, or correct the `url`, `model` and `key` of `judges`.",
};

export const judges = taskGate({
  name: "judges",
  aliases: ["judge_ensemble"],
  summary: "Enough of several judges say yes: the policy, or models at OpenAI-compatible endpoints.",
  formula: "#{j : judge j says yes} / #judges ≥ at_least",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  status: "approximate",
  params: z.object({
    judges: param(
      z
        .array(z.union([z.literal("policy"), z.object(chatParams)]))
        .min(1)
        .default(["policy"]),
      "Each judge is `policy`, or the `url` and `model` of a server; a judge named twice is asked twice.",
    ),
    at_least: param(z.number().gt(0).max(1).default(0.5), "Share of the judges that must say yes."),
    request: param(
      template("prompt", "answer").default(
        "Is this problem clear, can it be solved, and is its answer right? Say yes or no.\n\nProblem:\n{prompt}\n\nAnswer: {answer}\n\nVerdict:",
      ),
      "Template of the question to each judge: `{prompt}` and `{answer}` of the new task.",
    ),
    yes: param(
      z.string().refine(isPattern, { message: "must be a regular expression" }).default("^\\W*yes\\b"),
      "Regular expression of a yes; case is ignored.",
    ),
    max_tokens: param(z.number().int().min(1).default(16), "Longest verdict, in tokens."),
    temperature: param(z.number().min(0).default(1), "Sampling temperature of the verdicts."),
  }),
  create: ({ judges: named, at_least, request, yes, max_tokens, temperature }) => {
    const pattern = new TextPattern(yes, "i");
    return {
      tries: false,
      panel: {
        judges: named.map((one) => (one === "policy" ? one : asking(one, judge))),
        max_tokens,
        temperature,
        ask: ({ prompt, answer = "" }) => fill(request, { prompt, answer }),
      },
      admit: ({ said = [] }) =>
        said.length > 0 && said.filter((text) => pattern.test(text) === true).length / said.length >= at_least
          ? { admitted: true }
          : { admitted: false, reason: "too few judges say yes" },
    };
  },
});
