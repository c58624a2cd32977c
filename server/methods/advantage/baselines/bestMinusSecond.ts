import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";
import { noAdvantages, populations } from "../population.ts";

export const bestMinusSecond = baseline({
  name: "best_minus_second",
  aliases: ["grpo_passk"],
  summary:
    "The best rollout of the group gets its lead over the second best, the others 0: the policy gradient of the group's best reward.",
  formula: "A_i = r_max − r_second for the best, else 0",
  sources: ["Optimizing Language Models for Inference Time Objectives using Reinforcement Learning", "verl"],
  needs: ["siblings"],
  params: z.object({}),
  create: () => ({
    level: "response",
    centre(input) {
      const advantages = noAdvantages(input);
      for (const units of populations(input)) {
        let [best, second, winner] = [-Infinity, -Infinity, -1];
        for (const unit of units) {
          const reward = input.rewards[unit]!;
          if (reward > best) [best, second, winner] = [reward, best, unit];
          else if (reward > second) second = reward;
          advantages[unit] = 0;
        }
        if (units.length > 1) advantages[winner] = best - second;
      }
      return advantages;
    },
  }),
});
