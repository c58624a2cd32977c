import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";
import { alone, among, noAdvantages, populations, single } from "../population.ts";
import { mean } from "../spread.ts";

export const groupMean = baseline({
  name: "group_mean",
  summary: "Reward minus the mean reward of the group.",
  formula: "A_i = r_i − mean_j r_j",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  needs: ["siblings"],
  params: z.object({ among, single: single("zero") }),
  create: (params) => ({
    centre(input) {
      const centred = noAdvantages(input);
      for (const units of populations(input, params.among)) {
        const middle = mean(input.rewards, units);
        for (const unit of units)
          centred[unit] =
            units.length === 1
              ? alone(params.single ?? "zero", input.rewards[unit]!)
              : input.rewards[unit]! - middle;
      }
      return centred;
    },
  }),
});
