/** A KL coefficient that follows the measured divergence. */
import type { AdaptiveOptions } from "../../core/blocks/kl.ts";
import { z } from "zod";
import type { Saved, Stateful } from "../../core/basics.ts";

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
