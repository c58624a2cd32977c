import { z } from "zod";
import { param, rewardTerm } from "../../core/declaration.ts";
import { lengthOfRow } from "../../core/rows/batch.ts";
import { value } from "./perRow.ts";

const params = z.object({
  measure: param(
    z.enum(["steps", "tokens"]).default("steps"),
    "What counts as effort: reasoning steps (`rollout.steps` says what one is), or tokens.",
  ),
  cap: param(z.number().positive().default(16), "So much effort earns the whole reward; more earns no more."),
});

export const effort = rewardTerm({
  name: "effort",
  summary: "Rewards long reasoning, up to a cap: the simplest reward for exploration.",
  formula: "r = min(1, effort / cap)",
  sources: ["On the Emergence of Thinking in LLMs I: Searching for the Right Intuition"],
  status: "approximate",
  judges: "form",
  range: () => [0, 1],
  computes: () => true,
  params,
  create: ({ measure, cap }) => ({
    score: (batch) =>
      Promise.resolve(
        batch.records.map(({ steps }, row) => {
          const spent = measure === "tokens" ? lengthOfRow(batch, row) : (steps?.length ?? 1);
          return value(Math.min(1, spent / cap));
        }),
      ),
  }),
});
