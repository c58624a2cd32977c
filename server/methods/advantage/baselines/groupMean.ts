import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";
import { among, lessMiddle, populations, single } from "../population.ts";
import { mean } from "../spread.ts";

export const groupMean = baseline({
  name: "group_mean",
  summary: "Reward minus the mean reward of the group.",
  formula: "A_i = r_i − mean_j r_j",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  needs: ["siblings"],
  params: z.object({ among, single: single("zero") }),
  create: (params) => ({
    centre: (input) =>
      lessMiddle(
        input,
        populations(input, params.among),
        (units) => mean(input.rewards, units),
        params.single,
      ),
  }),
});
