import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import { noAdvantages, populations } from "../population.ts";

/** C(a, k) / C(n, k) for a ≤ n, as a product, so that nothing overflows; 0 where a < k. */
function ratioOfChoices(a: number, n: number, k: number): number {
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= Math.max(0, a - i) / (n - i);
  return ratio;
}

export const passAtK = baseline({
  name: "pass_at_k",
  summary:
    "The advantage that a rollout has on average over all subsets of k of the group, each rewarded 1 if one of the k is right and standardised over the subsets. A group without a right rollout, or where every subset has one, gets 0.",
  formula:
    "R̄ = 1 − C(N⁻,k)/C(N,k), σ = √(R̄(1 − R̄)); right: (1 − R̄)/σ, wrong: (1 − R̄ − C(N⁻−1,k−1)/C(N−1,k−1))/σ",
  sources: [
    "Pass@k Training for Adaptively Balancing Exploration and Exploitation of Large Reasoning Models",
  ],
  needs: ["siblings"],
  params: z.object({
    k: param(z.number().int().min(1).default(4), "Size of a subset; at most the group's."),
    at_least: param(z.number().default(1), "A rollout is right when its reward is at least this."),
  }),
  create: ({ k: wanted, at_least }) => ({
    level: "response",
    centre(input) {
      const advantages = noAdvantages(input);
      for (const units of populations(input)) {
        const n = units.length;
        const k = Math.min(wanted, n);
        let wrong = 0;
        for (const unit of units) if (input.rewards[unit]! < at_least) wrong++;
        const failing = ratioOfChoices(wrong, n, k);
        const sigma = Math.sqrt(failing * (1 - failing));
        const own = wrong === 0 ? 0 : ratioOfChoices(wrong - 1, n - 1, k - 1);
        for (const unit of units)
          advantages[unit] =
            sigma === 0 ? 0 : input.rewards[unit]! >= at_least ? failing / sigma : (failing - own) / sigma;
      }
      return advantages;
    },
  }),
});
