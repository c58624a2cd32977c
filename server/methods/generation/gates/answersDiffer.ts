import { z } from "zod";
import { taskGate, param } from "../../../core/declaration.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { isPattern } from "../../../lib/textSpans.ts";
import { extracted, lastLine } from "../pattern.ts";

/** Entropy of how often each value comes, over that of all different; 0 for fewer than two values. */
export function diversity(values: readonly string[]): number {
  if (values.length < 2) return 0;
  const counts = new Map<string, number>();
  for (const one of values) counts.set(one, (counts.get(one) ?? 0) + 1);
  const entropy = [...counts.values()].reduce((sum, count) => {
    const share = count / values.length;
    return sum - share * Math.log(share);
  }, 0);
  return entropy / Math.log(values.length);
}

export const answersDiffer = taskGate({
  name: "answers_differ",
  aliases: ["answer_diversity"],
  summary: "The answers of the policy's attempts differ enough.",
  formula: "H = −Σ_a f_a ln f_a, f_a = #{i : a_i = a} / n; passes where H / ln n ≥ at_least",
  sources: ["Syn-GRPO: Self-Evolving Data Synthesis for MLLM Perception Reasoning"],
  status: "approximate",
  params: z.object({
    at_least: param(
      z.number().min(0).max(1).default(0.3),
      "Smallest diversity that passes; 1: no two attempts agree.",
    ),
    pattern: param(
      z.string().refine(isPattern, { message: "must be a regular expression" }).default(lastLine),
      "Regular expression whose first group is the answer of an attempt; default: its last line.",
    ),
  }),
  create: ({ at_least, pattern }) => {
    const answer = new TextPattern(pattern);
    return {
      tries: true,
      admit: ({ tried }) => {
        const values = (tried?.answers ?? []).map(({ response }) => extracted(response, answer) ?? "");
        return values.length > 0 && diversity(values) >= at_least
          ? { admitted: true }
          : { admitted: false, reason: "the attempts' answers hardly differ" };
      },
    };
  },
});
