import { z } from "zod";
import { admission } from "../../config/declaration.ts";
import type { Group, Saved } from "../../seams.ts";
import { deviation } from "../numbers.ts";
import type { Admission, Verdict } from "../types.ts";
import { no, unscored, yes } from "./verdicts.ts";
import { mean } from "../../../shared/mean.ts";

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

class RewardSpread implements Admission {
  /** Moving average of the steps' mean standard deviations; NaN before the first step. */
  private average = Number.NaN;

  constructor(
    private readonly beta: number,
    private readonly decay: number,
    private readonly less: 0 | 1,
  ) {}

  admit({ rewards }: Group): Verdict {
    if (rewards.length === 0) return unscored;
    const spread = deviation(rewards, this.less);
    const least = this.beta * this.average;
    // Nothing is below NaN: the first step trains on everything.
    return spread < least ? no(`standard deviation ${rounded(spread)} is below ${rounded(least)}`) : yes;
  }
  remember(groups: readonly Group[]): void {
    const spreads = groups.flatMap(({ rewards }) =>
      rewards.length === 0 ? [] : [deviation(rewards, this.less)],
    );
    if (spreads.length === 0) return;
    const now = mean(spreads);
    this.average = Number.isNaN(this.average) ? now : this.decay * this.average + (1 - this.decay) * now;
  }
  save(): Saved {
    return { json: Number.isNaN(this.average) ? null : this.average };
  }
  load({ json }: Saved): void {
    this.average = typeof json === "number" ? json : Number.NaN;
  }
}

export const rewardSpread = admission({
  name: "reward_std",
  summary: "Leaves out groups whose rewards differ less than a share of what they have lately differed by.",
  formula: "std_i r_i ≥ β · EMA(mean over the step's groups of std)",
  sources: ["RLPR: Extrapolating RLVR to General Domains without Verifiers"],
  params: z.object({
    beta: z
      .number()
      .min(0)
      .default(0.5)
      .describe("β: 0.5 for Qwen, 0.9 for Llama and 1 for Gemma in the source."),
    decay: z.number().min(0).lt(1).default(0.99).describe("Of the moving average, a step."),
    sample: z.boolean().default(false).describe("Divide by n − 1 in the place of n."),
  }),
  create: ({ beta, decay, sample }) => new RewardSpread(beta, decay, sample ? 1 : 0),
});
