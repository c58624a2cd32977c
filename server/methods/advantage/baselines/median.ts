import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import { among, lessMiddle, populations, single } from "../population.ts";
import { quantile } from "../quantile.ts";

export const median = baseline({
  name: "median",
  summary: "Reward minus the group's median reward (or another quantile), which outliers do not move.",
  formula: "A_i = r_i − quantile_q(r)",
  sources: ["Quantile Advantage Estimation for Entropy-Safe Reasoning"],
  needs: ["siblings"],
  params: z.object({
    quantile: param(z.number().min(0).max(1).default(0.5), "q; 0.5: the median."),
    between: param(
      z.enum(["linear", "lower"]).default("linear"),
      "Where the quantile falls between two rewards: linear between them, or the lower one, inf { x : F(x) ≥ q } (QAE).",
    ),
    among,
    single: single("zero"),
  }),
  create: ({ quantile: q, between, among: rule, single: lone }) => ({
    centre: (input) => {
      const middle = (units: Int32Array): number => {
        const rewards = Array.from(units, (unit) => input.rewards[unit]!);
        return quantile(rewards, q, between);
      };
      return lessMiddle(input, populations(input, rule), middle, lone);
    },
  }),
});
