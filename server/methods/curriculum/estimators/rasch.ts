import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import { logistic } from "../numbers.ts";
import type { FastEstimates } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";

class Rasch implements Estimator, EstimatorExtensions {
  private readonly difficulty = new Column(0);
  readonly fast: FastEstimates = { changes: [this.difficulty] };
  private ability = 0;
  /** Σ (s − p) over the step's rollouts, and their number: ability is updated once a step. */
  private surprise = 0;
  private rollouts = 0;

  constructor(
    private readonly lr: { readonly ability: number; readonly difficulty: number },
    private readonly prior: number,
  ) {}

  observe({ arm, mean, rollouts }: Observation): void {
    const gap = mean - this.estimate(arm);
    this.surprise += rollouts * gap;
    this.rollouts += rollouts;
    const d = this.difficulty.get(arm);
    this.difficulty.set(arm, d - this.lr.difficulty * (gap + this.prior * d));
  }
  endStep(): void {
    if (this.rollouts > 0) this.ability += (this.lr.ability * this.surprise) / this.rollouts;
    [this.surprise, this.rollouts] = [0, 0];
  }
  estimate(arm: number): number {
    return logistic(this.ability - this.difficulty.get(arm));
  }
  save(): Saved {
    return { json: this.ability, arrays: { difficulty: this.difficulty.save() } };
  }
  load({ json, arrays }: Saved): void {
    [this.ability, this.surprise, this.rollouts] = [Number(json), 0, 0];
    this.difficulty.load(arrays?.["difficulty"]);
  }
}

export const rasch = estimator({
  name: "rasch",
  aliases: ["irt", "logistic"],
  summary:
    "One ability of the policy and one difficulty per arm, so that rollouts of some arms update the estimates of all.",
  formula: "p = 1/(1 + e^{d_a − θ}); θ ← θ + η_θ mean(s − p), d_a ← d_a − η_d ((s̄ − p) + λ d_a), once a step",
  sources: [
    "SEELE: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
    "Rasch, Probabilistic Models for Some Intelligence and Attainment Tests",
  ],
  status: "approximate",
  gives: ["estimate"],
  takes: ["rate"],
  params: z.object({
    ability: param(z.number().positive().default(1), "η_θ, how fast the ability moves."),
    difficulty: param(z.number().positive().default(1), "η_d, how fast a difficulty moves."),
    prior: param(z.number().min(0).default(0.01), "λ, which pulls difficulties towards 0."),
  }),
  create: ({ ability, difficulty, prior }) => new Rasch({ ability, difficulty }, prior),
});
