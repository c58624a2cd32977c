import { z } from "zod";
import { estimator } from "../config/declaration.ts";
import type { Arm, Estimator, Saved } from "../seams.ts";
import { numbersOf } from "./saved.ts";

class Ema implements Estimator {
  private readonly values = new Map<Arm, number>();
  private readonly seen = new Set<Arm>();

  constructor(
    private readonly alpha: number,
    private readonly decays: boolean,
  ) {}

  observe(arm: Arm, value: number): void {
    this.values.set(arm, (1 - this.alpha) * this.estimate(arm) + this.alpha * value);
    this.seen.add(arm);
  }

  estimate(arm: Arm): number {
    return this.values.get(arm) ?? 0;
  }

  advance(arms: readonly Arm[]): void {
    if (this.decays)
      for (const arm of arms)
        if (!this.seen.has(arm)) this.values.set(arm, (1 - this.alpha) * this.estimate(arm));
    this.seen.clear();
  }

  save(): Saved {
    return { json: Object.fromEntries(this.values) };
  }

  load(saved: Saved): void {
    this.values.clear();
    this.seen.clear();
    for (const [arm, value] of numbersOf(saved)) this.values.set(arm, value);
  }
}

export const ema = estimator({
  name: "ema",
  summary: "Exponential moving average that starts at 0; arms that are not drawn keep their value.",
  formula: "Q ← (1 − α) Q + α s, once per arm and step, s the mean over all the arm's rollouts of that step",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({
    alpha: z.number().gt(0).max(1).default(0.5).describe("Weight of the new observation."),
    decay_unsampled: z
      .boolean()
      .default(false)
      .describe(
        "Pull arms that were not drawn towards 0, as a released copy of the code does; the paper does not.",
      ),
  }),
  create: ({ alpha, decay_unsampled }) => new Ema(alpha, decay_unsampled),
});
