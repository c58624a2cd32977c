import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import { isPattern } from "../../lib/textSpans.ts";
import { TextPattern } from "../../lib/texts/textPattern.ts";
import { failure, perRow, value } from "./perRow.ts";

/** The last match of a pattern, its first group where it has one; null: there is none. */
function lastMatch(text: string, pattern: TextPattern): string | null {
  const last = pattern.all(text).at(-1);
  return last?.[1] ?? last?.[0] ?? null;
}

export const verdict = rewardTerm({
  name: "verdict",
  summary: "1 where the last verdict in the response is the task's answer; 0 where there is none.",
  formula: "r = 1[c = c*]",
  sources: ["Critique-Coder: Enhancing Coder Models by Critique Reinforcement Learning"],
  judges: "answer",
  range: () => [0, 1],
  computes: () => true,
  params: z.object({
    pattern: param(
      z.string().refine(isPattern, { message: "must be a regular expression" }).default("\\b([TF])\\b"),
      "Regular expression of a verdict; its first group, else all of it, is compared with the answer.",
    ),
    ignore_case: param(z.boolean().default(false), "Ignore case in search and comparison."),
  }),
  create: ({ pattern, ignore_case }) => {
    const search = new TextPattern(pattern, ignore_case ? "i" : "");
    const normal = (text: string): string => (ignore_case ? text.toLowerCase() : text);
    return perRow(({ task, response }) => {
      if (task.answer === undefined)
        return failure(
          `verdict needs an answer, and task ${task.id} has none: set \`answer\` on its dataset`,
        );
      const said = lastMatch(response, search);
      return value(said !== null && normal(said) === normal(task.answer) ? 1 : 0);
    });
  },
});
