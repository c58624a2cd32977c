import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { listsByArm } from "../../../core/saved.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { logGamma } from "../../../lib/distributions.ts";
import { betaMean, betaPosterior } from "./betaPosterior.ts";

/** A forecaster: successes and failures since its start, and the logarithm of its weight. */
type Forecaster = readonly [successes: number, failures: number, weight: number];

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/** The log probability that a forecaster gave to s successes and f failures in sequence, by Laplace's rule. */
const evidence = ([a, b]: Forecaster, s: number, f: number): number =>
  logBeta(a + 1 + s, b + 1 + f) - logBeta(a + 1, b + 1);

class BetaRestart implements Estimator, EstimatorExtensions {
  readonly posterior = betaPosterior((arm) => this.shapes(arm));
  /** By arm, the oldest first. The estimate is the oldest one's. */
  private readonly forecasters = new Map<number, Forecaster[]>();

  constructor(
    private readonly hazard: number,
    private readonly most: number,
  ) {}

  observe({ arm, mean, rollouts }: Observation): void {
    const [s, f] = [mean * rollouts, (1 - mean) * rollouts];
    const before = this.forecasters.get(arm) ?? [];
    // A new forecaster starts with the weight of the oldest one times the hazard.
    const fresh: Forecaster = [0, 0, (before[0]?.[2] ?? 0) + Math.log(before.length === 0 ? 1 : this.hazard)];
    const after = [...before, fresh].map((one): Forecaster => [
      one[0] + s,
      one[1] + f,
      one[2] + evidence(one, s, f),
    ]);
    const oldest = after[0]![2];
    const change = after.findLastIndex((one, i) => i > 0 && one[2] > oldest);
    const kept = change > 0 ? after.slice(change) : after;
    // The oldest, and the youngest of the others.
    this.forecasters.set(arm, kept.length > this.most ? [kept[0]!, ...kept.slice(1 - this.most)] : kept);
  }

  private shapes(arm: number): readonly [number, number] {
    const [s, f] = this.forecasters.get(arm)?.[0] ?? [0, 0];
    return [s + 1, f + 1];
  }
  estimate(arm: number): number {
    return betaMean(this.shapes(arm));
  }

  save(): Saved {
    return { json: [...this.forecasters].map(([arm, list]) => [arm, list.flat()]) };
  }
  load({ json }: Saved): void {
    this.forecasters.clear();
    for (const [arm, flat] of listsByArm(json))
      this.forecasters.set(
        arm,
        Array.from({ length: flat.length / 3 }, (_, i) => [flat[3 * i]!, flat[3 * i + 1]!, flat[3 * i + 2]!]),
      );
  }
}

export const betaRestart = estimator({
  name: "beta_restart",
  aliases: ["bocpd"],
  summary: "A Beta posterior that restarts when an arm's success rate changes.",
  formula:
    "a forecaster for each start, weighted by the likelihood of the outcomes since (Laplace's rule) and at its start by the hazard; one that outweighs the oldest replaces it",
  sources: ["Restarted Bayesian Online Change-point Detection for Non-Stationary Markov Decision Processes"],
  status: "approximate",
  gives: ["estimate", "spread", "posterior"],
  takes: ["rate"],
  params: z.object({
    hazard: param(z.number().gt(0).lt(1).default(0.02), "How likely a change is at a step of the arm."),
    forecasters: param(z.number().int().min(2).default(32), "How many of the latest starts are considered."),
  }),
  create: ({ hazard, forecasters }) => new BetaRestart(hazard, forecasters),
});
