import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Estimator, Observation } from "../../../core/slots/curriculum.ts";
import { LastFew } from "../lastFew.ts";
import { mean } from "../../../../shared/lib/mean.ts";

class Window implements Estimator {
  private readonly kept: LastFew;

  constructor(
    size: number,
    private readonly of: "steps" | "rollouts",
  ) {
    this.kept = new LastFew(size);
  }

  observe({ arm, mean: now, values }: Observation): void {
    for (const value of this.of === "steps" ? [now] : values) this.kept.push(arm, value);
  }
  estimate(arm: number): number {
    return mean(this.kept.of(arm));
  }
  save(): Saved {
    return this.kept.save();
  }
  load(saved: Saved): void {
    this.kept.load(saved);
  }
}

export const window = estimator({
  name: "window",
  summary: "Mean of an arm's last observations: of its steps, or of its rollouts.",
  formula: "Q = mean of the last n values of s",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  gives: ["estimate"],
  params: z.object({
    size: param(z.number().int().positive().default(10), "Values kept per arm; 300 rollouts in DUMP."),
    of: param(
      z.enum(["steps", "rollouts"]).default("steps"),
      "Whether a value is the mean of a step, or what the signal says of one rollout.",
    ),
  }),
  create: ({ size, of }) => new Window(size, of),
});
