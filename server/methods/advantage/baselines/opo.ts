import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";
import { alone, noAdvantages, populations, single } from "../population.ts";
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
      const centred = noAdvantages(input);
      const lengths = trainedTokens(input.units, input.batch.mask);
      for (const units of populations(input)) {
        let weighted = 0;
        let weight = 0;
        for (const unit of units) {
          const length = lengths?.[unit] ?? 1;
          weighted += length * input.rewards[unit]!;
          weight += length;
        }
        for (const unit of units)
          centred[unit] =
            units.length === 1
              ? alone(params.single ?? "zero", input.rewards[unit]!)
              : input.rewards[unit]! - (weight === 0 ? 0 : weighted / weight);
      }
      return centred;
    },
  }),
});
