import { scale } from "../config/declaration.ts";
import { scaleParams } from "./scaleParams.ts";
import { deviation, scaled } from "./spread.ts";

export const batchStd = scale({
  name: "batch_std",
  summary: "Divides by the standard deviation of all the step's rewards.",
  formula: "A_i ← A_i / (std_{batch} r + ε)",
  sources: ["Part I: Tricks or Traps? A Deep Dive into RL for LLM Reasoning"],
  params: scaleParams,
  create:
    ({ epsilon, population }) =>
    (centred, totals, groups) => {
      const spread = deviation(
        totals,
        groups.rows.flatMap((rows) => [...rows]),
        population,
      );
      return Float64Array.from(centred, (value) =>
        Number.isNaN(value) ? value : scaled(value, spread, epsilon),
      );
    },
});
