import { scale } from "../config/declaration.ts";
import { scaleParams } from "./scaleParams.ts";
import { deviation, scaled } from "./spread.ts";

export const groupStd = scale({
  name: "group_std",
  summary: "Divides by the standard deviation of the group's rewards; a group without variance gets 0.",
  formula: "A_i ← A_i / (std_j r_j + ε)",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  params: scaleParams,
  create:
    ({ epsilon, population }) =>
    (centred, totals, groups) => {
      const result = new Float64Array(centred.length).fill(Number.NaN);
      for (const rows of groups.rows) {
        const spread = deviation(totals, rows, population);
        for (const row of rows)
          if (!Number.isNaN(centred[row]!)) result[row] = scaled(centred[row]!, spread, epsilon);
      }
      return result;
    },
});
