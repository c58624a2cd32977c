/** The mean, spread and draws of Beta distributions. */
import type { Posterior } from "../../../core/slots/arms.ts";
import { beta as drawBeta } from "../../../lib/distributions.ts";

/** @param shapes α and β of an arm */
export const betaPosterior = (shapes: NonNullable<Posterior["shapes"]>): Required<Posterior> => ({
  shapes,
  spread: (arm) => {
    const [a, b] = shapes(arm);
    return Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  },
  draw: (arm, random) => drawBeta(...shapes(arm), random),
});

export const betaMean = ([a, b]: readonly [number, number]): number => a / (a + b);
