import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import { oneOf } from "./applying.ts";

const spreads = {
  std: (values: readonly number[], mean: number): number =>
    Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / values.length),
  max_difference: (values: readonly number[]): number => Math.max(...values) - Math.min(...values),
} as const;

export const pessimism = combine({
  name: "pessimism",
  summary:
    "The mean of terms that judge the same thing, such as several reward models or judges, less a multiple of how far they disagree. Terms of weight 0 are left out.",
  formula: "r = mean_k w_k r_k − λ u, u = std_k or max_k − min_k",
  sources: ["Revisiting Design Choices in Offline Model-Based Reinforcement Learning"],
  params: z.object({
    lambda: param(z.number().nonnegative().default(1), "λ: what a unit of disagreement costs."),
    spread: param(
      z.enum(["std", "max_difference"]).default("std"),
      "u: the standard deviation of the terms, or the greatest difference of two.",
    ),
  }),
  create:
    ({ lambda, spread }) =>
    (rewards, batch) =>
      oneOf("pessimism", rewards, batch, (values) => {
        const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
        return mean - lambda * spreads[spread](values, mean);
      }),
});
