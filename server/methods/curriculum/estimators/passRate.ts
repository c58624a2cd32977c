import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { MeasuredRates, measuring, type Measuring } from "./measuredRates.ts";

class PassRate implements Estimator, EstimatorExtensions {
  readonly pilots: MeasuredRates;

  constructor(
    how: Measuring,
    private readonly updates: boolean,
  ) {
    this.pilots = new MeasuredRates(how);
  }

  observe({ arm, mean }: Observation): void {
    if (this.updates) this.pilots.rates.set(arm, mean);
  }
  estimate(arm: number): number {
    return this.pilots.rates.get(arm);
  }
  save(): Saved {
    return { json: null, arrays: this.pilots.save() };
  }
  load({ arrays }: Saved): void {
    this.pilots.load(arrays);
  }
}

export const passRate = estimator({
  name: "pass_rate",
  aliases: ["offline_pass_rate"],
  summary:
    "Measures every arm's success rate before training, and keeps it; with `temperature: 0, samples: 1` it measures whether the greedy answer is right.",
  formula: "Q = mean of s over `samples` rollouts, under the policy before the arm is first drawn",
  sources: [
    "SARI: Structured Audio Reasoning via Curriculum-Guided Reinforcement Learning",
    "The Reasoning Boundary Paradox: How Reinforcement Learning Constrains Language Models",
  ],
  gives: ["estimate"],
  params: z.object({
    ...measuring,
    updates: param(z.boolean().default(false), "Replace it by each later observation of the arm."),
  }),
  create: ({ updates, ...how }) => new PassRate(how, updates),
});
