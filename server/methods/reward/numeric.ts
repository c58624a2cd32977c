import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import { failure, perRow, value } from "./perRow.ts";

const pattern = /[-−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?/g;

/** The last number in a text; thousands separators are dropped. */
function lastNumber(text: string): number | undefined {
  const found = text.match(pattern)?.at(-1);
  return found === undefined ? undefined : Number(found.replaceAll(",", "").replace("−", "-"));
}

export const numeric = rewardTerm({
  name: "numeric",
  summary: "1 where the last number of the response equals the answer's within a tolerance.",
  formula: "r = 1[|x − y| ≤ tolerance · max(1, |y|)]",
  sources: [],
  judges: "answer",
  range: () => [0, 1],
  computes: () => true,
  params: z.object({
    tolerance: param(
      z.number().nonnegative().default(1e-6),
      "Allowed difference, relative for answers beyond 1.",
    ),
  }),
  create: ({ tolerance }) =>
    perRow(({ task, response }) => {
      const wanted = task.answer === undefined ? undefined : lastNumber(task.answer);
      if (wanted === undefined)
        return failure(
          `numeric needs a number as the answer of task ${task.id}, which has ${task.answer === undefined ? "none" : JSON.stringify(task.answer)}`,
        );
      const found = lastNumber(response);
      return value(
        found !== undefined && Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted)) ? 1 : 0,
      );
    }),
});
