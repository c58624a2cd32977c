import { z } from "zod";
import { scale, param } from "../../../core/declaration.ts";
import { scaleParams } from "./scaleParams.ts";
import { deviation, mean, scaled } from "../spread.ts";

export const whitening = scale({
  name: "whitening",
  aliases: ["normalize_advantages"],
  summary:
    "Standardises the centred rewards over the whole step: minus their mean, over their standard deviation. `advantage.whiten` does so at the very end.",
  formula: "A_i ← (A_i − mean_{batch} A) / (std_{batch} A + ε)",
  sources: ["TRL"],
  divides: "step",
  params: scaleParams.extend({ center: param(z.boolean().default(true), "Whether the mean is subtracted.") }),
  create:
    ({ epsilon, population, center }) =>
    (centred) => {
      const known = [...centred.keys()].filter((unit) => !Number.isNaN(centred[unit]!));
      const middle = center ? mean(centred, known) : 0;
      const spread = deviation(centred, known, population);
      return centred.map((value) => (Number.isNaN(value) ? value : scaled(value - middle, spread, epsilon)));
    },
});
