import { z } from "zod";
import { combine, param } from "../../../core/declaration.ts";
import { oneOf } from "./applying.ts";

/** −λ log mean exp(−r/λ), without overflow: between the least and the mean. */
export function softMinimum(values: readonly number[], lambda: number): number {
  const least = Math.min(...values);
  const mean = values.reduce((sum, one) => sum + Math.exp(-(one - least) / lambda), 0) / values.length;
  return least - lambda * Math.log(mean);
}

export const softMin = combine({
  name: "soft_min",
  summary:
    "A soft minimum of the weighted terms that apply: the worst counts most. Terms of weight 0 are left out.",
  formula: "r = −λ log mean_k exp(−w_k r_k / λ)",
  sources: ["Robust Offline Reinforcement Learning with Linearly Structured f-Divergence Regularization"],
  params: z.object({
    lambda: param(
      z.number().positive().default(1),
      "λ: towards 0 the reward is the least of the terms, towards infinity their mean.",
    ),
  }),
  create:
    ({ lambda }) =>
    (rewards, batch) =>
      oneOf("soft_min", rewards, batch, (values) => softMinimum(values, lambda)),
});
