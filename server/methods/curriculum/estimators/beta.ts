import { z } from "zod";
import { estimator } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../../../core/arms/column.ts";
import { beta as drawBeta } from "../../../lib/distributions.ts";
import type { Estimator, Observation } from "../../../core/slots/curriculum.ts";

interface Options {
  readonly alpha: number;
  readonly beta: number;
  readonly decay: number;
  readonly decay_unsampled: boolean;
}

/** What is kept are the counts above the prior, as they were when the arm was last observed: 0 for one never seen. */
class Beta implements Estimator {
  private readonly successes = new Column(0);
  private readonly failures = new Column(0);
  /** Steps that had gone by then. */
  private readonly since = new Column(0);
  private steps = 0;
  readonly alike: readonly Column[] | undefined;

  constructor(private readonly options: Options) {
    this.alike = this.decays ? [this.successes, this.failures, this.since] : undefined;
  }

  private get decays(): boolean {
    return this.options.decay_unsampled && this.options.decay < 1;
  }
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

  advance(): "all" | [] {
    this.steps += 1;
    return this.decays ? "all" : [];
  }

  estimate(arm: number): number {
    const [a, b] = [this.alpha(arm), this.beta(arm)];
    return a / (a + b);
  }
  spread(arm: number): number {
    const [a, b] = [this.alpha(arm), this.beta(arm)];
    return Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  }
  posterior(arm: number, random: Random): number {
    return drawBeta(...this.shapes(arm), random);
  }
  shapes(arm: number): readonly [number, number] {
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
  summary: "A Beta posterior of each arm's success rate, which forgets what is old.",
  formula:
    "α ← λα + (1 − λ)α₀ + successes, β ← λβ + (1 − λ)β₀ + failures; estimate α/(α + β). λ = 1 forgets nothing",
  sources: [
    "Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?",
    "CurES: From Gradient Analysis to Efficient Curriculum Learning for Reasoning LLMs",
  ],
  gives: ["estimate", "spread", "posterior"],
  takes: ["rate"],
  params: z.object({
    alpha: z.number().positive().default(1).describe("α₀, successes before the first."),
    beta: z.number().positive().default(1).describe("β₀, failures before the first."),
    decay: z.number().min(0).max(1).default(1).describe("λ; 0.5 in MoPPS's Countdown and geometry scripts."),
    decay_unsampled: z
      .boolean()
      .default(false)
      .describe("Forget also of arms that were not drawn, which the source does not."),
  }),
  create: (options) => new Beta(options),
});
