import { z } from "zod";
import { klEstimator } from "../../core/declaration.ts";
import { exp, expm1 } from "../../lib/exponential.ts";
import type { KlColumns } from "../../core/slots/kl.ts";
import { inSlices } from "../../lib/slices.ts";
import { estimatorOf, estimatorParams, isPlain, type Estimate } from "./estimate.ts";

// expm1 keeps the digits that the difference loses where the two models nearly agree.
const reverse: Estimate = { value: (d) => expm1(-d) + d, slope: (d) => -expm1(-d) };
const forward: Estimate = {
  value: (d) => -d * exp(-d) - expm1(-d),
  slope: (d) => d * exp(-d),
};

/** e^(log π_ref − log π) − 1. */
function excessInto(
  into: Float64Array,
  own: Float64Array,
  other: Float64Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) into[i] = expm1(other[i]! - own[i]!);
}

/** A slice's Σ factor · k3, not yet times the coefficient, and Σ k3. */
class Sums {
  loss = 0;
  k3 = 0;
  count = 0;

  /** @param excess e^(log π_ref − log π) − 1 */
  add(
    { own, other, factors, coefficient, gradient }: KlColumns,
    excess: Float64Array,
    from: number,
    to: number,
  ): void {
    let loss = 0;
    let k3 = 0;
    let count = 0;
    for (let i = from; i < to; i++) {
      const factor = factors[i]!;
      if (factor === 0) continue;
      const e = excess[i]!;
      const value = e + (own[i]! - other[i]!);
      loss += factor * value;
      k3 += value;
      count += 1;
      gradient[i]! -= coefficient * factor * e;
    }
    this.loss += loss;
    this.k3 += k3;
    this.count += count;
  }
}

/** The same as token by token. A loop for the exponentials and one for the sums: each has all of the registers. */
function sum(columns: KlColumns): { loss: number; k3: number; count: number } {
  const { own, other, coefficient, scratch } = columns;
  const sums = new Sums();
  inSlices(own.length, (from, to) => {
    excessInto(scratch, own, other, from, to);
    sums.add(columns, scratch, from, to);
  });
  return { loss: coefficient * sums.loss, k3: sums.k3, count: sums.count };
}

export const k3 = klEstimator({
  name: "k3",
  aliases: ["low_var_kl"],
  summary: "Unbiased and never negative.",
  formula: "k3 = ρ − log ρ − 1, ρ = π_ref / π; ∂k3/∂log π = 1 − ρ; forward: ρ log ρ − ρ + 1",
  sources: [
    "Approximating KL Divergence (Schulman)",
    "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models",
  ],
  params: z.object(estimatorParams),
  create: (options) => ({ ...estimatorOf(reverse, forward, options), ...(isPlain(options) ? { sum } : {}) }),
});
