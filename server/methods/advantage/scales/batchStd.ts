import { z } from "zod";
import { scale, param } from "../../../core/declaration.ts";
import { scaleParams } from "./scaleParams.ts";
import { deviation, scaled } from "../spread.ts";

export const batchStd = scale({
  name: "batch_std",
  summary: "Divides by the standard deviation of all the step's rewards.",
  formula: "A_i ← A_i / (std_{batch} r + ε)",
  sources: ["Part I: Tricks or Traps? A Deep Dive into RL for LLM Reasoning"],
  divides: "step",
  params: scaleParams.extend({
    of: param(
      z.enum(["rewards", "advantages"]).optional(),
      "The standard deviation of the rewards (default), or of the rewards minus the baseline.",
    ),
  }),
  create:
    ({ epsilon, population, of }) =>
    (centred, { rewards }) => {
      const values = of === "advantages" ? centred : rewards;
      const known = [...values.keys()].filter((unit) => !Number.isNaN(values[unit]!));
      const spread = deviation(values, known, population);
      return centred.map((value) => (Number.isNaN(value) ? value : scaled(value, spread, epsilon)));
    },
});
