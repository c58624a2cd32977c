import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Outcome } from "../../../core/slots/curriculum.ts";
import type { FastSampler } from "../../../core/slots/fastArms.ts";
import { mean } from "../../../../shared/lib/mean.ts";
import { largest, least } from "../numbers.ts";
import { taking } from "../fast/top.ts";

const params = z.object({
  target: param(z.number().default(0.5), "β: the mean reward at which the target stays."),
  sensitivity: param(z.number().positive().default(2), "α."),
  step: param(
    z.number().positive().default(0.5),
    "η, as a part of the range of difficulties: 50 of 0 to 100 in the source.",
  ),
  start: param(
    z.number().min(0).max(1).default(0),
    "The first target: 0 the easiest, 1 the hardest; the easiest in the source's code.",
  ),
  low: param(z.number().optional(), "Least difficulty of the range; default: the easiest arm's."),
  high: param(z.number().optional(), "Largest; default: the hardest arm's."),
  order: param(
    z.enum(["ascending", "descending"]).default("ascending"),
    "Whether larger estimates are harder, as difficulties are, or easier, as success rates are.",
  ),
});
type Options = z.output<typeof params>;

class AdaptiveTarget {
  /** The target as a part of the range, from easy to hard. */
  private at: number;

  constructor(private readonly options: Options) {
    this.at = options.start;
  }

  /** An arm's distance from the target; an unknown one is at it. */
  costs(estimates: Float64Array): Float64Array {
    const { order, low = least(estimates), high = largest(estimates) } = this.options;
    const part = order === "ascending" ? this.at : 1 - this.at;
    const target = low + part * (high - low);
    return estimates.map((one) => (Number.isNaN(one) ? 0 : Math.abs(one - target)));
  }

  learn(outcomes: readonly Outcome[]): void {
    const rewards = outcomes.flatMap(({ group }) => [...group.rewards]);
    if (rewards.length === 0) return;
    const { step, sensitivity, target } = this.options;
    const moved = this.at + step * Math.tanh(sensitivity * (mean(rewards) - target));
    this.at = Math.min(1, Math.max(0, moved));
  }

  save(): Saved {
    return { json: this.at };
  }
  load({ json }: Saved): void {
    this.at = Number(json);
  }
}

export const adaptiveTarget = sampler({
  name: "adaptive_target",
  summary:
    "Draws the arms whose difficulty is nearest to a target, which rises while the policy earns more than wished and falls while it earns less.",
  formula:
    "the n arms of least |d − T|; T ← clip(T + η tanh(α (r̄ − β)), low, high), r̄ over the step's rollouts",
  sources: ["Efficient Reinforcement Finetuning via Adaptive Curriculum Learning"],
  takes: ["estimate"],
  params,
  create: (options): FastSampler => {
    const target = new AdaptiveTarget(options);
    return {
      ...taking(["estimate"], ({ estimates }) => target.costs(estimates)),
      learn: (outcomes) => target.learn(outcomes),
      save: () => target.save(),
      load: (saved) => target.load(saved),
    };
  },
});
