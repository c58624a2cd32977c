import { z } from "zod";
import { klEstimator } from "../config/declaration.ts";
import type { KlColumns } from "../seams.ts";
import { estimatorOf, estimatorParams, isPlain, type Estimate } from "./estimate.ts";

// expm1 keeps the digits that the difference loses where the two models nearly agree.
const reverse: Estimate = { value: (d) => Math.expm1(-d) + d, slope: (d) => -Math.expm1(-d) };
const forward: Estimate = {
  value: (d) => -d * Math.exp(-d) - Math.expm1(-d),
  slope: (d) => d * Math.exp(-d),
};

/** The same as token by token; two models' log-probs of two million tokens are one loop. */
function sum({ own, other, factors, coefficient, gradient }: KlColumns): {
  loss: number;
  k3: number;
  count: number;
} {
  let [loss, k3, count] = [0, 0, 0];
  for (let i = 0; i < own.length; i++) {
    const factor = factors[i]!;
    if (factor === 0) continue;
    const d = own[i]! - other[i]!;
    const e = Math.expm1(-d);
    loss += factor * (e + d);
    k3 += e + d;
    count += 1;
    gradient[i]! -= coefficient * factor * e;
  }
  return { loss: coefficient * loss, k3, count };
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
  create: (options) => ({
    ...estimatorOf(reverse, forward, options),
    ...(isPlain(options) ? { sum } : {}),
  }),
});
