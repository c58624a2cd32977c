import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";
import { lessMiddle, populations, single } from "../population.ts";
import { trainedTokens } from "../units.ts";

export const opo = baseline({
  name: "opo",
  summary:
    "Reward minus the group's mean reward weighted by length: near the baseline of least variance, since a long response's gradient is larger.",
  formula: "A_i = r_i − Σ_j l_j r_j / Σ_j l_j",
  sources: ["On-Policy RL with Optimal Reward Baseline", "verl"],
  needs: ["siblings"],
  params: z.object({ single: single("zero") }),
  create: (params) => ({
    centre(input) {
      const lengths = trainedTokens(input.units, input.batch.mask);
      const weightedMean = (units: Int32Array): number => {
        let weighted = 0;
        let weight = 0;
        for (const unit of units) {
          const length = lengths?.[unit] ?? 1;
          weighted += length * input.rewards[unit]!;
          weight += length;
        }
        return weight === 0 ? 0 : weighted / weight;
      };
      return lessMiddle(input, populations(input), weightedMean, params.single);
    },
  }),
});
