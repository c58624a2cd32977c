import { z } from "zod";
import { auxiliary } from "../config/declaration.ts";

export const privacy = auxiliary({
  name: "privacy",
  aliases: ["dp"],
  summary:
    "Differentially private steps: the gradient of each sequence is clipped to a norm before they are added, and Gaussian noise is added to the sum. With a group baseline a rollout's advantage depends on its siblings, so this bounds a sequence's part in a step, not a prompt's. Its own `weight`, `when` and `place` are not read.",
  formula: "g = Σ_i g_i · min(1, C/‖g_i‖) + N(0, (noise · C)²)",
  sources: [
    "Privately Aligning Language Models with Reinforcement Learning",
    "Deep Learning with Differential Privacy",
  ],
  params: z.object({
    clip: z.number().positive().describe("C: norm that a sequence's share of the gradient is clipped to."),
    noise: z.number().nonnegative().default(1).describe("Standard deviation of the noise, in units of C."),
  }),
  create: ({ clip, noise }) => ({ kind: "privacy", clip, noise }),
});
