import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { Column } from "../column.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";

/** Keeps of an arm's success rates: their number, the best, and the sums for their slope over the visits. */
class NeverLearned implements Signal {
  private readonly visits = new Column(0);
  private readonly best = new Column(0);
  private readonly sum = new Column(0);
  private readonly moment = new Column(0);

  constructor(private readonly below: number) {}

  measure({ rewards, successes }: Group, arm: number): readonly number[] {
    const rate = successes / rewards.length;
    const before = this.visits.get(arm);
    if (Math.max(this.best.get(arm), rate) >= this.below) return [0];
    // n Σ k·p_k − Σ k · Σ p_k has the sign of the least-squares slope over visits k = 0 … n − 1.
    const n = before + 1;
    const rise =
      n * (this.moment.get(arm) + before * rate) - ((n * (n - 1)) / 2) * (this.sum.get(arm) + rate);
    return [rise > 0 ? 0 : 1];
  }
  remember({ rewards, successes }: Group, arm: number): void {
    if (arm < 0 || rewards.length === 0) return;
    const rate = successes / rewards.length;
    this.best.set(arm, Math.max(this.best.get(arm), rate));
    this.moment.add(arm, this.visits.get(arm) * rate);
    this.sum.add(arm, rate);
    this.visits.add(arm, 1);
  }

  save(): Saved {
    const { visits, best, sum, moment } = this;
    return {
      json: null,
      arrays: { visits: visits.save(), best: best.save(), sum: sum.save(), moment: moment.save() },
    };
  }
  load({ arrays }: Saved): void {
    for (const name of ["visits", "best", "sum", "moment"] as const) this[name].load(arrays?.[name]);
  }
}

export const neverLearned = signal({
  name: "never_learned",
  summary: "1 where an arm's success rate has stayed low and does not rise, else 0.",
  formula:
    "s = 1 if max_k p̂_k < below and the slope of p̂_k over the visits k is not positive (in the source's formula: negative, by which an arm that was never solved would not count)",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: z.object({ below: param(z.number().gt(0).max(1).default(0.5), "A rate that counts as learned.") }),
  create: ({ below }) => new NeverLearned(below),
});
