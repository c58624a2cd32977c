import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import type { FastEstimates } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { betaMean, betaPosterior } from "./betaPosterior.ts";

const params = z.object({
  alpha: param(z.number().positive().default(1), "α₀, successes before the first."),
  beta: param(z.number().positive().default(1), "β₀, failures before the first."),
  decay: param(z.number().min(0).max(1).default(1), "λ; 0.5 in MoPPS's Countdown and geometry scripts."),
  decay_unsampled: param(
    z.boolean().default(false),
    "Also forget rollouts of arms that were not drawn; the source does not.",
  ),
});
type Options = z.output<typeof params>;

/** Keeps the counts above the prior as of the arm's last observation; 0 for an arm that was never observed. */
class Beta implements Estimator, EstimatorExtensions {
  private readonly successes = new Column(0);
  private readonly failures = new Column(0);
  /** The step of that observation. */
  private readonly since = new Column(0);
  private steps = 0;
  readonly fast: FastEstimates;
  readonly posterior = betaPosterior((arm) => this.shapes(arm));

  constructor(private readonly options: Options) {
    this.fast = { changes: this.decays ? [this.successes, this.failures, this.since] : "observed" };
  }

  private get decays(): boolean {
    return this.options.decay_unsampled && this.options.decay < 1;
  }
  /** The share of the counts that is not forgotten yet. */
  private left(arm: number): number {
    return this.decays ? this.options.decay ** Math.max(0, this.steps - this.since.get(arm)) : 1;
  }
  private alpha(arm: number): number {
    return this.options.alpha + this.left(arm) * this.successes.get(arm);
  }
  private beta(arm: number): number {
    return this.options.beta + this.left(arm) * this.failures.get(arm);
  }

  observe({ arm, mean, rollouts }: Observation): void {
    // α − α₀ ← λ (α − α₀) + successes is α ← λα + (1 − λ)α₀ + successes.
    const kept = this.options.decay * this.left(arm);
    this.successes.set(arm, kept * this.successes.get(arm) + mean * rollouts);
    this.failures.set(arm, kept * this.failures.get(arm) + (1 - mean) * rollouts);
    if (this.decays) this.since.set(arm, this.steps + 1);
  }

  endStep(): void {
    this.steps += 1;
  }

  estimate(arm: number): number {
    return betaMean(this.shapes(arm));
  }
  private shapes(arm: number): readonly [number, number] {
    return [this.alpha(arm), this.beta(arm)];
  }

  save(): Saved {
    const { successes, failures, since } = this;
    return {
      json: this.steps,
      arrays: { successes: successes.save(), failures: failures.save(), since: since.save() },
    };
  }
  load({ json, arrays }: Saved): void {
    this.steps = Number(json);
    this.successes.load(arrays?.["successes"]);
    this.failures.load(arrays?.["failures"]);
    this.since.load(arrays?.["since"]);
  }
}

export const beta = estimator({
  name: "beta",
  aliases: ["beta_posterior", "decayed_beta"],
  summary: "A Beta posterior of each arm's success rate, which forgets old rollouts.",
  formula:
    "α ← λα + (1 − λ)α₀ + successes, β ← λβ + (1 − λ)β₀ + failures; estimate α/(α + β). λ = 1 forgets nothing",
  sources: [
    "Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?",
    "CurES: From Gradient Analysis to Efficient Curriculum Learning for Reasoning LLMs",
  ],
  gives: ["estimate", "spread", "posterior"],
  takes: ["rate"],
  params,
  create: (options) => new Beta(options),
});
