import { baseline } from "../../../core/declaration.ts";
import { z } from "zod";
import { mean } from "../spread.ts";

export const batchMean = baseline({
  name: "batch_mean",
  aliases: ["flash_reinforce"],
  summary: "Reward minus the mean over all of the step's rollouts, so a group of 1 is enough.",
  formula: "A_i = r_i − mean_{batch} r",
  sources: ["OpenRLHF 0.11"],
  params: z.object({}),
  create: () => ({
    centre: ({ rewards }) => {
      const known = [...rewards.keys()].filter((unit) => !Number.isNaN(rewards[unit]!));
      const middle = mean(rewards, known);
      return rewards.map((reward) => reward - middle);
    },
  }),
});
