import { z } from "zod";
import { estimator } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { ArmSet, Estimator, Observation, Probe } from "../../../core/slots/curriculum.ts";
import { TriedRates, type Tries } from "./tried.ts";
import { tries } from "./tries.ts";

class PassRate implements Estimator {
  private readonly tried: TriedRates;

  constructor(
    how: Tries,
    private readonly updates: boolean,
  ) {
    this.tried = new TriedRates(how);
  }

  probe({ size }: ArmSet): Probe | undefined {
    return this.tried.probe(size);
  }
  probed(seen: readonly Observation[]): [] {
    this.tried.probed(seen);
    return [];
  }
  observe({ arm, mean }: Observation): void {
    if (this.updates) this.tried.rates.set(arm, mean);
  }
  estimate(arm: number): number {
    return this.tried.rates.get(arm);
  }
  save(): Saved {
    return { json: null, arrays: this.tried.save() };
  }
  load({ arrays }: Saved): void {
    this.tried.load(arrays);
  }
}

export const passRate = estimator({
  name: "pass_rate",
  aliases: ["offline_pass_rate"],
  summary:
    "Tries every arm before training, and keeps what it found; with `temperature: 0, samples: 1` whether the greedy answer is right.",
  formula:
    "Q = mean of s over `samples` rollouts, under the policy as it stands before the arm is first drawn",
  sources: [
    "SARI: Structured Audio Reasoning via Curriculum-Guided Reinforcement Learning",
    "The Reasoning Boundary Paradox: How Reinforcement Learning Constrains Language Models",
  ],
  gives: ["estimate"],
  params: z.object({
    ...tries,
    updates: z.boolean().default(false).describe("Replace it by each later observation of the arm."),
  }),
  create: ({ updates, ...how }) => new PassRate(how, updates),
});
