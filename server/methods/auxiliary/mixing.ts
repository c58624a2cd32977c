import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";

const rate = z.number().min(0);

export const mixing = auxiliary({
  name: "mixing",
  aliases: ["amft"],
  summary:
    "Weighs imitation against reinforcement: the objective counts 1 − μ and every likelihood of the list μ times its `weight`. μ rises where the policy's entropy is below its target, and where a step of imitation would lower the loss on demonstrations that are not in it more than a step of reinforcement. Its own `weight`, `when` and `place` are not read.",
  formula:
    "L = (1 − μ) L_RL + μ L_SFT, μ ← clip(μ + η · lr ⟨∇L_val, ∇L_SFT − ∇L_RL⟩ + η_H (H* − H), low, high)",
  sources: ["AMFT: Aligning LLM Reasoners by Meta-Learning the Optimal Imitation-Exploration Balance"],
  status: "approximate",
  params: z
    .object({
      start: param(z.number().min(0).max(1).default(0.8), "μ at first."),
      low: param(z.number().min(0).max(1).default(0.05), "Least μ."),
      high: param(z.number().min(0).max(1).default(0.95), "Greatest μ."),
      entropy: param(
        z.union([z.literal("first"), z.number().min(0)]).default("first"),
        "H*, the entropy that is aimed at, in nats a token; first: that of the stage's first rollouts, as a warm-up left it.",
      ),
      entropy_rate: param(rate.default(5e-4), "η_H."),
      meta_rate: param(
        rate.default(1e-4),
        "η; 0 computes no gradients. Otherwise three more are computed every so many steps.",
      ),
      every: param(
        z.number().int().positive().default(20),
        "Steps from one comparison of gradients to the next.",
      ),
    })
    .refine(({ low, start, high }) => low <= start && start <= high, {
      message: "needs low ≤ start ≤ high",
    }),
  create: ({ entropy_rate, meta_rate, ...options }) => ({
    kind: "mixing",
    ...options,
    entropyRate: entropy_rate,
    metaRate: meta_rate,
  }),
});
