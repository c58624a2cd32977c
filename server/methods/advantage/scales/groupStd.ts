import { z } from "zod";
import { scale, param } from "../../../core/declaration.ts";
import { among, populations } from "../population.ts";
import { scaleParams } from "./scaleParams.ts";
import { deviation, scaled } from "../spread.ts";

export const groupStd = scale({
  name: "group_std",
  summary: "Divides by the standard deviation of the group's rewards; a group without variance gets 0.",
  formula: "A_i ← A_i / (std_j r_j + ε)",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  needs: ["siblings"],
  divides: "group",
  params: scaleParams.extend({
    among,
    single: param(
      z.enum(["zero", "one"]).optional(),
      "The standard deviation for a rollout without a scored sibling: 0, so that its advantage is 0 (default), or 1 (verl).",
    ),
  }),
  create: (params) => (centred, input) => {
    const result = new Float64Array(centred.length).fill(Number.NaN);
    for (const units of populations(input, params.among)) {
      const spread =
        units.length === 1 && params.single === "one"
          ? 1
          : deviation(input.rewards, units, params.population);
      for (const unit of units)
        if (!Number.isNaN(centred[unit]!)) result[unit] = scaled(centred[unit]!, spread, params.epsilon);
    }
    return result;
  },
});
