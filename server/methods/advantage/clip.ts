/** Bounds on centred and scaled values. */
import { z } from "zod";

export const clipSchema = z.union([
  z.literal("none"),
  z.strictObject({
    low: z.number().max(0).default(-10).describe("Least value; OpenRLHF: −10."),
    high: z.number().min(0).default(10).describe("Greatest value; OpenRLHF: 10."),
  }),
]);
export type AdvantageClip = z.output<typeof clipSchema>;

/** NaN, where a unit has no advantage, stays. */
export const clippedTo = (values: Float64Array, clip: AdvantageClip): Float64Array =>
  clip === "none" ? values : values.map((value) => Math.min(clip.high, Math.max(clip.low, value)));
