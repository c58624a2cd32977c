import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import type { FastEstimates } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { betaMean, betaPosterior } from "./betaPosterior.ts";

/** Bounds of the prior's weight in rollouts: equal arms would make it infinite. */
const strength = { least: 1, most: 1000 } as const;

/** Sums over the observed arms, from which the shared prior is fitted. */
interface Sums {
  readonly arms: number;
  /** Σ rate, Σ rate² and Σ 1/rollouts. */
  readonly rates: number;
  readonly squares: number;
  readonly inverse: number;
}

/**
 * The Beta distribution of the arms' rates, fitted by moments (J. C. Kleinman, 1973): rates of n rollouts have the variance m (1 − m) (γ + (1 − γ) mean(1/n)) with γ = 1/(κ + 1).
 * @returns its mean m, and its weight κ in rollouts; with fewer than three arms only the mean is fitted
 */
function fitted({ arms, rates, squares, inverse }: Sums): { readonly mean: number; readonly worth: number } {
  // One success and one failure are added.
  const mean = (rates + 0.5) / (arms + 1);
  if (arms < 3) return { mean, worth: 2 };
  const own = rates / arms;
  const variance = Math.max(0, (squares - arms * own * own) / (arms - 1));
  const h = inverse / arms;
  const gamma = (variance / (own * (1 - own)) - h) / (1 - h);
  const worth = 1 / gamma - 1;
  // All successes, all failures, or one rollout each: the spread of the rates tells nothing about the arms.
  if (Number.isNaN(gamma) || h >= 1) return { mean, worth: 2 };
  return {
    mean,
    worth: gamma <= 0 ? strength.most : Math.min(strength.most, Math.max(strength.least, worth)),
  };
}

const saved = z.object({
  sums: z.object({ arms: z.number(), rates: z.number(), squares: z.number(), inverse: z.number() }),
  prior: z.object({ mean: z.number(), worth: z.number() }),
});

class PooledBeta implements Estimator, EstimatorExtensions {
  readonly posterior = betaPosterior((arm) => this.shapes(arm));
  private readonly successes = new Column(0);
  private readonly failures = new Column(0);
  readonly fast: FastEstimates = { changes: [this.successes, this.failures] };
  private sums: Sums = { arms: 0, rates: 0, squares: 0, inverse: 0 };
  private prior = fitted(this.sums);

  constructor(private readonly decay: number) {}

  private count(arm: number, sign: 1 | -1): void {
    const rollouts = this.successes.get(arm) + this.failures.get(arm);
    if (rollouts === 0) return;
    const rate = this.successes.get(arm) / rollouts;
    const { arms, rates, squares, inverse } = this.sums;
    this.sums = {
      arms: arms + sign,
      rates: rates + sign * rate,
      squares: squares + sign * rate * rate,
      inverse: inverse + sign / rollouts,
    };
  }
  observe({ arm, mean, rollouts }: Observation): void {
    this.count(arm, -1);
    this.successes.set(arm, this.decay * this.successes.get(arm) + mean * rollouts);
    this.failures.set(arm, this.decay * this.failures.get(arm) + (1 - mean) * rollouts);
    this.count(arm, 1);
  }
  endStep(): void {
    this.prior = fitted(this.sums);
  }

  private shapes(arm: number): readonly [number, number] {
    const { mean, worth } = this.prior;
    return [mean * worth + this.successes.get(arm), (1 - mean) * worth + this.failures.get(arm)];
  }
  estimate(arm: number): number {
    return betaMean(this.shapes(arm));
  }

  save(): Saved {
    const { sums, prior, successes, failures } = this;
    const json = { sums: { ...sums }, prior };
    return { json, arrays: { successes: successes.save(), failures: failures.save() } };
  }
  load({ json, arrays }: Saved): void {
    ({ sums: this.sums, prior: this.prior } = saved.parse(json));
    this.successes.load(arrays?.["successes"]);
    this.failures.load(arrays?.["failures"]);
  }
}

export const pooledBeta = estimator({
  name: "pooled_beta",
  aliases: ["hierarchical_beta", "hierarchical"],
  summary:
    "A Beta posterior of each arm's success rate, with a prior fitted to all arms: an arm with few rollouts is estimated to be like the others.",
  formula:
    "estimate (mκ + successes)/(κ + rollouts); m = (Σ p̂ + ½)/(J + 1) over the rates p̂ of the J arms observed; κ = 1/γ − 1, at least 1 and at most 1000, and 1000 where γ ≤ 0; γ = (V/(p̄(1 − p̄)) − h)/(1 − h), p̄ the mean of the rates, V their variance (J − 1), h the mean of 1/rollouts; κ = 2 while J < 3, or where p̄ is 0 or 1, or h is 1 or more",
  sources: [
    "A Hierarchical Bayesian Model for Deep Few-Shot Meta Learning",
    "Kleinman, Proportions with Extraneous Variance",
  ],
  gives: ["estimate", "spread", "posterior"],
  takes: ["rate"],
  status: "approximate",
  params: z.object({
    decay: param(
      z.number().min(0).max(1).default(1),
      "λ: the weight of an arm's earlier rollouts when it is observed again; 1 forgets nothing.",
    ),
  }),
  create: ({ decay }) => new PooledBeta(decay),
});
