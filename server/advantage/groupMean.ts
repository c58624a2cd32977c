import { z } from "zod";
import { baseline } from "../config/declaration.ts";
import { mean } from "./spread.ts";

export const groupMean = baseline({
  name: "group_mean",
  summary: "Reward minus the mean reward of the group.",
  formula: "A_i = r_i − mean_j r_j",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  params: z.object({}),
  create: () => (totals, groups) => {
    const centred = new Float64Array(totals.length).fill(Number.NaN);
    for (const rows of groups.rows) {
      const middle = mean(totals, rows);
      for (const row of rows) centred[row] = totals[row]! - middle;
    }
    return centred;
  },
});
