import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import { failure, perRow, value } from "./perRow.ts";

export const exactMatch = rewardTerm({
  name: "exact_match",
  summary: "1 where the response equals the task's answer.",
  formula: "r = 1[response = answer]",
  sources: [],
  judges: "answer",
  range: () => [0, 1],
  computes: () => true,
  params: z.object({
    strip: param(z.boolean().default(true), "Ignore white space at both ends."),
    ignore_case: param(z.boolean().default(false), "Ignore case."),
  }),
  create: ({ strip, ignore_case }) => {
    const normal = (text: string): string => {
      const stripped = strip ? text.trim() : text;
      return ignore_case ? stripped.toLowerCase() : stripped;
    };
    return perRow(({ task, response }) =>
      task.answer === undefined
        ? failure(`exact_match needs an answer, and task ${task.id} has none: set \`answer\` on its dataset`)
        : value(normal(response) === normal(task.answer) ? 1 : 0),
    );
  },
});
