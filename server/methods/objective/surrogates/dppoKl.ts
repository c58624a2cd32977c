import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { dppoOn, dppoParams } from "./dppo.ts";
import { surrogate } from "./surrogate.ts";

/** Keeps the logarithm of a certain token's complement finite. */
const epsilon = 1e-8;

/** KL between the two coins "this token" and "another". */
const binaryKl = (probability: number, then: number, logp: number, logpThen: number): number =>
  then * (logpThen - logp) + (1 - then) * Math.log((1 - then + epsilon) / (1 - probability + epsilon));

export const dppoKl = objective({
  name: "dppo_kl",
  summary:
    "Policy gradient with a truncated weight; tokens whose probability has moved too far, by binary KL, stop training.",
  formula:
    "ℓ = −A sg(min(ρ, cap)) log π, where d = KL(Bernoulli(π_anchor) ‖ Bernoulli(π)) ≤ high or π ≤ π_anchor for A > 0, d ≤ low or π ≥ π_anchor else; 0 beyond",
  sources: ["Rethinking the Trust Region in LLM Reinforcement Learning", "verl 0.9.1"],
  params: z.object(dppoParams),
  create: (params) =>
    surrogate(params, (size) =>
      dppoOn(size, params, (gains, probability, then, logp, logpThen) => {
        if (gains ? probability <= then : probability >= then) return true;
        return binaryKl(probability, then, logp, logpThen) <= (gains ? params.high : params.low);
      }),
    ),
});
