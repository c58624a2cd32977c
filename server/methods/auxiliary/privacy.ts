import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";

export const privacy = auxiliary({
  name: "privacy",
  aliases: ["dp"],
  summary:
    "Differentially private steps: each sequence's gradient is clipped to a norm, and Gaussian noise is added to the sum. With a group baseline a rollout's advantage depends on its siblings, so this bounds what a sequence contributes to a step, not what a prompt does. `privacy/epsilon` composes all steps so far without amplification by sampling. Its own `weight`, `when` and `place` are not read.",
  formula: "g = Σ_i g_i · min(1, C/‖g_i‖) + N(0, (noise · C)²); ε = ρ + 2√(ρ ln 1/δ), ρ = steps / (2 noise²)",
  sources: [
    "Privately Aligning Language Models with Reinforcement Learning",
    "Deep Learning with Differential Privacy",
    "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
  ],
  params: z.object({
    clip: param(z.number().positive(), "C: norm that each sequence's gradient is clipped to."),
    noise: param(z.number().nonnegative().default(1), "Standard deviation of the noise, in units of C."),
    delta: param(z.number().gt(0).lt(1).default(1e-5), "δ of the (ε, δ) that `privacy/epsilon` reports."),
  }),
  create: ({ clip, noise, delta }) => ({ kind: "privacy", clip, noise, delta }),
});
