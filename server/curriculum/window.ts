import { z } from "zod";
import { estimator } from "../config/declaration.ts";
import type { Arm, Estimator, Saved } from "../seams.ts";
import { listsOf } from "./saved.ts";

/** Mean of the last `size` observations of each arm. */
export class Window implements Estimator {
  private readonly values = new Map<Arm, number[]>();

  constructor(private readonly size: number) {}

  observe(arm: Arm, value: number): void {
    const known = [...(this.values.get(arm) ?? []), value];
    this.values.set(arm, known.slice(-this.size));
  }

  estimate(arm: Arm): number | undefined {
    const known = this.values.get(arm);
    return known === undefined || known.length === 0
      ? undefined
      : known.reduce((sum, value) => sum + value, 0) / known.length;
  }

  save(): Saved {
    return { json: Object.fromEntries([...this.values].map(([arm, values]) => [arm, [...values]])) };
  }

  load(saved: Saved): void {
    this.values.clear();
    for (const [arm, values] of listsOf(saved)) this.values.set(arm, values);
  }
}

export const window = estimator({
  name: "window",
  summary: "Mean of an arm's last observations.",
  formula: "Q = mean of the last n values of s",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  params: z.object({
    size: z.number().int().positive().default(10).describe("Observations kept per arm, one a step."),
  }),
  create: ({ size }) => new Window(size),
});
