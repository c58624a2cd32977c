/** Bounds on centred and scaled values. */
import type { AdvantageClip } from "../../core/blocks/advantage.ts";

/** NaN, where a unit has no advantage, stays. */
export const clippedTo = (values: Float64Array, clip: AdvantageClip): Float64Array =>
  clip === "none" ? values : values.map((value) => Math.min(clip.high, Math.max(clip.low, value)));
