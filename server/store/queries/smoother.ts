/** Smoothing of a series as it was recorded, before it is reduced: what a chart shows does not depend on how wide it is. */
import type { PointArrays } from "../ingest/points.ts";

/**
 * Exponential moving average, m ← β m + (1 − β) x, divided by its weight 1 − βⁿ: it is not drawn to 0 at its start, and a
 * constant stays what it is. What is not finite breaks the curve there and changes nothing.
 */
export class Smoother {
  #sum = 0;
  #weight = 0;

  /** @param factor β in [0, 1) */
  constructor(private readonly factor: number) {}

  /** Goes on with the points that come next. */
  smoothed({ steps, values }: PointArrays): PointArrays {
    return {
      steps,
      values: values.map((value) => {
        if (!Number.isFinite(value)) return value;
        this.#sum = this.factor * this.#sum + (1 - this.factor) * value;
        this.#weight = this.factor * this.#weight + (1 - this.factor);
        return this.#sum / this.#weight;
      }),
    };
  }
}
