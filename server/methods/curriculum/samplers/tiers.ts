import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { sampler, param } from "../../../core/declaration.ts";
import { independent } from "../fast/independent.ts";

export const tiers = sampler({
  name: "tiers",
  aliases: ["tier_quota"],
  summary:
    "Divides arms into tiers by their estimates, and gives each tier a quota of the draws, which its arms share equally.",
  formula: "p(a) = quota(tier(a)) / (Σ quotas of tiers that have arms · arms of the tier)",
  sources: ["GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning"],
  takes: ["estimate"],
  params: z.object({
    edges: param(
      z.array(z.number()).min(1).default([0.1, 0.9]),
      "Estimates at which the next tier starts, rising.",
    ),
    quotas: param(z.array(z.number().min(0)).min(2).default([1, 4, 1]), "One a tier, from the lowest."),
    unknown: param(z.number().min(0).default(2), "Quota of unknown arms."),
  }),
  create: ({ edges, quotas, unknown }) => {
    if (quotas.length !== edges.length + 1 || edges.some((edge, i) => i > 0 && edge <= edges[i - 1]!))
      throw new UserError(
        `tiers: ${edges.length} rising edges make ${edges.length + 1} tiers, and there are ${quotas.length} quotas`,
        { code: "tiers", action: "Give one quota for each tier, and edges that rise." },
      );
    const all = [...quotas, unknown];
    const tierOf = (estimate: number): number => {
      if (Number.isNaN(estimate)) return quotas.length;
      let tier = 0;
      while (tier < edges.length && estimate >= edges[tier]!) tier++;
      return tier;
    };
    return independent(["estimate"], ({ estimates, open }) => {
      const tier = new Uint32Array(estimates.length);
      const counts = new Float64Array(all.length);
      for (let of = 0; of < tier.length; of++) {
        tier[of] = tierOf(estimates[of]!);
        counts[tier[of]!]! += open[of]!;
      }
      return estimates.map((_, of) => (counts[tier[of]!]! > 0 ? all[tier[of]!]! / counts[tier[of]!]! : 0));
    });
  },
});
