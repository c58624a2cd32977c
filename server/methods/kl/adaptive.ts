/** A KL coefficient that follows the measured divergence. */
import { z } from "zod";
import type { Saved, Stateful } from "../../core/seams.ts";

export const adaptiveSchema = z.strictObject({
  use: z.literal("adaptive").describe("The coefficient follows the measured divergence."),
  initial: z.number().positive().default(0.2).describe("The coefficient of the first step."),
  target: z
    .number()
    .positive()
    .describe("The divergence aimed at: the mean over responses of what `per` makes of their tokens."),
  per: z
    .enum(["token", "response"])
    .default("token")
    .describe("token: a response's mean over its tokens; response: their sum, e.g. 6 nats."),
  rule: z
    .enum(["proportional", "doubling"])
    .default("proportional")
    .describe(
      "proportional: β ← β (1 + clip(D/target − 1, ±error_clip) · rollouts/horizon); doubling: β is doubled where D exceeds target · tolerance, halved where it is below target / tolerance.",
    ),
  horizon: z
    .number()
    .positive()
    .default(10000)
    .describe("proportional: rollouts over which the error acts once (PPO on preferences: 10000)."),
  gain: z
    .number()
    .positive()
    .optional()
    .describe("proportional: a fixed step in the place of rollouts / horizon; NLPO: 0.1."),
  error_clip: z.number().positive().default(0.2).describe("proportional: bound on the relative error."),
  factor: z.number().gt(1).default(2).describe("doubling: what the coefficient is multiplied or divided by."),
  tolerance: z.number().min(1).default(1.5).describe("doubling: how far from the target nothing happens."),
  least: z.number().nonnegative().default(0).describe("Lower bound of the coefficient."),
  most: z.number().positive().optional().describe("Upper bound of the coefficient; default: none."),
});
export type AdaptiveOptions = z.output<typeof adaptiveSchema>;

const savedSchema = z.object({ value: z.number() });

export class AdaptiveCoefficient implements Stateful {
  value: number;
  private total = 0;
  private rollouts = 0;

  /** @param passes how often a step goes over its rollouts: each counts once */
  constructor(
    readonly options: AdaptiveOptions,
    private readonly passes = 1,
  ) {
    this.value = options.initial;
  }

  /** Notes what was measured on some rollouts of this step. */
  measure(divergence: number, rollouts: number): void {
    if (rollouts === 0 || !Number.isFinite(divergence)) return;
    this.total += divergence * rollouts;
    this.rollouts += rollouts;
  }

  /** Once a step: moves the coefficient by what was measured in it. */
  advance(): void {
    if (this.rollouts === 0) return;
    const moved = this.value * this.multiplier(this.total / this.rollouts, this.rollouts / this.passes);
    this.value = Math.min(this.options.most ?? Number.POSITIVE_INFINITY, Math.max(this.options.least, moved));
    this.total = 0;
    this.rollouts = 0;
  }

  private multiplier(divergence: number, rollouts: number): number {
    const { rule, target, horizon, gain, error_clip, factor, tolerance } = this.options;
    if (rule === "doubling")
      return divergence > target * tolerance ? factor : divergence < target / tolerance ? 1 / factor : 1;
    const error = Math.min(error_clip, Math.max(-error_clip, divergence / target - 1));
    return 1 + error * (gain ?? rollouts / horizon);
  }

  save(): Saved {
    return { json: { value: this.value } };
  }
  load({ json }: Saved): void {
    this.value = savedSchema.parse(json).value;
  }
}
