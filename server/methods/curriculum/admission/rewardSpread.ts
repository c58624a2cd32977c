import { z } from "zod";
import { admission, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { deviation } from "../numbers.ts";
import type { Admission, Verdict } from "../../../core/slots/curriculum.ts";
import { no, unscored, yes } from "./verdicts.ts";
import { mean } from "../../../../shared/lib/mean.ts";

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

const params = z.object({
  beta: param(
    z.number().min(0).default(0.5),
    "β: 0.5 for Qwen, 0.9 for Llama and 1 for Gemma in the source.",
  ),
  decay: param(z.number().min(0).lt(1).default(0.99), "Of the moving average, a step."),
  sample: param(z.boolean().default(false), "Divide by n − 1 instead of n."),
  from: param(z.number().int().min(0).default(0), "Steps before the first that is counted; 5 in the source."),
  over: param(
    z.number().int().positive().default(1),
    "Steps whose plain mean starts the average; until then no group is left out. 5 in the source.",
  ),
});
type Options = z.output<typeof params>;

class RewardSpread implements Admission {
  /** Mean of the first steps' mean standard deviations, then their moving average; NaN before the first. */
  private average = Number.NaN;
  /** Steps so far. */
  private steps = 0;

  constructor(private readonly options: Options) {}

  private spread(rewards: Float64Array): number {
    return deviation(rewards, this.options.sample ? 1 : 0);
  }

  admit({ rewards }: Group): Verdict {
    if (rewards.length === 0) return unscored;
    const { beta, from, over } = this.options;
    if (this.steps < from + over) return yes;
    const spread = this.spread(rewards);
    const least = beta * this.average;
    // By rounding, an average of equal numbers may be slightly above them.
    return spread < least * (1 - 1e-9)
      ? no(`standard deviation ${rounded(spread)} is below ${rounded(least)}`)
      : yes;
  }

  remember(groups: readonly Group[]): void {
    const spreads = groups.flatMap(({ rewards }) => (rewards.length === 0 ? [] : [this.spread(rewards)]));
    if (spreads.length === 0) return;
    const { decay, from, over } = this.options;
    const counted = this.steps - from;
    this.steps += 1;
    if (counted < 0) return;
    const kept = counted < over ? counted / (counted + 1) : decay;
    this.average = (counted === 0 ? 0 : kept * this.average) + (1 - kept) * mean(spreads);
  }

  save(): Saved {
    return { json: [this.steps, Number.isNaN(this.average) ? null : this.average] };
  }
  load({ json }: Saved): void {
    const [steps, average] = json as readonly [number, number | null];
    this.steps = steps;
    this.average = average ?? Number.NaN;
  }
}

export const rewardSpread = admission({
  name: "reward_std",
  summary: "Leaves out groups whose rewards spread less than a share of the recent average spread.",
  formula:
    "std_i r_i ≥ β · EMA(mean over the step's groups of std), which starts with the mean of the first `over` steps counted",
  sources: ["RLPR: Extrapolating RLVR to General Domains without Verifiers"],
  failing: ({ beta }) => (beta > 0 ? "left_out" : undefined),
  params,
  create: (options) => new RewardSpread(options),
});
