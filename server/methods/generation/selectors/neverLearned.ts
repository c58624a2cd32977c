import { z } from "zod";
import { taskSelector, param } from "../../../core/declaration.ts";

/** Least-squares slope of values over 0, 1, 2, …; 0 for fewer than two. */
export function slope(values: readonly number[]): number {
  const n = values.length;
  if (n < 2) return 0;
  const [x, y] = [(n - 1) / 2, values.reduce((sum, value) => sum + value, 0) / n];
  const covariance = values.reduce((sum, value, i) => sum + (i - x) * (value - y), 0);
  return covariance / values.reduce((sum, _, i) => sum + (i - x) ** 2, 0);
}

export const neverLearned = taskSelector({
  name: "never_learned",
  summary: "Tasks that were drawn several times, stayed below a success rate and do not improve.",
  formula:
    "w(x) = 1[max_t p̂_t(x) < below ∧ slope_t p̂_t(x) ≤ slope]; failure_ratio: share(k) ∝ #{x ∈ k : w(x) = 1} / #k",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: z.object({
    below: param(
      z.number().min(0).max(1).default(0.5),
      "Success rate that none of the task's groups reached.",
    ),
    slope: param(
      z.number().default(0),
      "Largest rise of the rate per group that still counts as no improvement.",
    ),
    budget: param(
      z.enum(["even", "failure_ratio"]).default("even"),
      "failure_ratio: each kind of task (a source and its difficulty) gets parents in proportion to the share of its tasks that is never learned.",
    ),
    after: param(z.number().int().min(1).default(2), "Fewest groups that a task must have had."),
  }),
  create: ({ below, slope: most, after, budget }) => ({
    ...(budget === "even" ? {} : { share: ({ chosen, tasks }) => chosen / tasks }),
    weigh: ({ rates }) =>
      rates.length >= after && rates.every((rate) => rate < below) && slope(rates) <= most ? 1 : 0,
  }),
});
