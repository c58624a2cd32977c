import { z } from "zod";
import { scale, param } from "../../../core/declaration.ts";
import { among, populations } from "../population.ts";
import { mean } from "../spread.ts";

export const meanReward = scale({
  name: "mean_reward",
  aliases: ["max_rl"],
  summary:
    "Divides by the group's mean reward: a rarely solved task weighs as much as under maximum likelihood. A group whose mean is 0 gets 0.",
  formula: "A_i ← A_i / (mean_j r_j + ε)",
  sources: ["Maximum Likelihood Reinforcement Learning"],
  needs: ["siblings"],
  divides: "group",
  params: z.object({ among, epsilon: param(z.number().nonnegative().default(0), "Added to the mean.") }),
  create: (params) => (centred, input) => {
    const result = new Float64Array(centred.length).fill(Number.NaN);
    for (const units of populations(input, params.among)) {
      const divisor = mean(input.rewards, units) + params.epsilon;
      for (const unit of units) result[unit] = divisor === 0 ? 0 : centred[unit]! / divisor;
    }
    return result;
  },
});
