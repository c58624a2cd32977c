import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { Column } from "../column.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";

/** Welford's recursion by arm: visits, mean rate, sum of squared deviations. */
class AccuracyVariance implements Signal {
  private readonly visits = new Column(0);
  private readonly means = new Column(0);
  private readonly squares = new Column(0);

  constructor(private readonly root: boolean) {}

  private after({ rewards, successes }: Group, arm: number): readonly [number, number, number] {
    const rate = successes / rewards.length;
    const n = this.visits.get(arm) + 1;
    const gap = rate - this.means.get(arm);
    const mean = this.means.get(arm) + gap / n;
    return [n, mean, this.squares.get(arm) + gap * (rate - mean)];
  }

  measure(group: Group, arm: number): readonly number[] {
    const [n, , squares] = this.after(group, arm);
    const variance = Math.max(0, squares / n);
    return [this.root ? Math.sqrt(variance) : variance];
  }
  remember(group: Group, arm: number): void {
    if (arm < 0 || group.rewards.length === 0) return;
    const [n, mean, squares] = this.after(group, arm);
    this.visits.set(arm, n);
    this.means.set(arm, mean);
    this.squares.set(arm, squares);
  }

  save(): Saved {
    const { visits, means, squares } = this;
    return { json: null, arrays: { visits: visits.save(), means: means.save(), squares: squares.save() } };
  }
  load({ arrays }: Saved): void {
    this.visits.load(arrays?.["visits"]);
    this.means.load(arrays?.["means"]);
    this.squares.load(arrays?.["squares"]);
  }
}

export const accuracyVariance = signal({
  name: "accuracy_variance",
  aliases: ["history_variance"],
  summary:
    "How much an arm's success rate has moved from visit to visit. `estimator: last` keeps it as it is.",
  formula: "s = Var_k(p̂_k) over all visits k so far, or its root",
  sources: ["Reinforcement Learning for Reasoning in Large Language Models with One Training Example"],
  params: z.object({
    root: param(z.boolean().default(false), "The standard deviation; the order of arms is the same."),
  }),
  create: ({ root }) => new AccuracyVariance(root),
});
