import { z } from "zod";
import { param } from "../../../core/declaration.ts";

/** What both standard-deviation scales take. */
export const scaleParams = z.object({
  epsilon: param(z.number().nonnegative().default(1e-4), "Added to the standard deviation."),
  population: param(z.boolean().default(false), "Divide by n instead of n − 1."),
});
