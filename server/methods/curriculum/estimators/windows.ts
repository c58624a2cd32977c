import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { deviation } from "../numbers.ts";
import { LastFew } from "../lastFew.ts";
import type { Estimator, Observation } from "../../../core/slots/curriculum.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Of the two windows' means, and the standard deviation of the last. */
const comparisons = {
  ratio: (now: number, before: number) => now / before,
  difference: (now: number, before: number) => now - before,
  absolute: (now: number, before: number) => Math.abs(now - before),
  ratio_and_noise: (now: number, before: number, noise: number) => now / before + noise / (now + before),
} as const;

class Windows implements Estimator {
  private readonly kept: LastFew;

  constructor(
    private readonly size: number,
    private readonly compare: keyof typeof comparisons,
  ) {
    this.kept = new LastFew(2 * size);
  }

  observe({ arm, mean: now }: Observation): void {
    this.kept.push(arm, now);
  }
  estimate(arm: number): number {
    const values = this.kept.of(arm);
    if (values.length < 2 * this.size) return Number.NaN;
    const last = values.subarray(this.size);
    return comparisons[this.compare](mean(last), mean(values.subarray(0, this.size)), deviation(last, 0));
  }
  save(): Saved {
    return this.kept.save();
  }
  load(saved: Saved): void {
    this.kept.load(saved);
  }
}

export const windows = estimator({
  name: "windows",
  summary: "The change between two adjacent windows of an arm's observations.",
  formula:
    "with m₁ the mean of the n steps before the last n, and m₂ of the last n: m₂/m₁, m₂ − m₁, |m₂ − m₁| or m₂/m₁ + σ₂/(m₂ + m₁), σ₂ the deviation of the last n",
  sources: ["RECAP", "Teacher-Student Curriculum Learning"],
  gives: ["estimate"],
  params: z.object({
    size: param(z.number().int().positive().default(5), "n, steps of the arm in each window."),
    compare: param(
      z.enum(["ratio", "difference", "absolute", "ratio_and_noise"]).default("absolute"),
      "What is made of the two means; RECAP weighs its losses by `ratio_and_noise`.",
    ),
  }),
  create: ({ size, compare }) => new Windows(size, compare),
});
