import { z } from "zod";

/** What both standard-deviation scales take. */
export const scaleParams = z.object({
  epsilon: z.number().nonnegative().default(1e-4).describe("Added to the standard deviation."),
  population: z.boolean().default(false).describe("Divide by n instead of n − 1."),
});
