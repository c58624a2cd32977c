import { z } from "zod";
import { rescore } from "../../core/declaration.ts";

export const rescoreRecomputed = rescore({
  name: "recomputed",
  summary:
    "Advantages are computed anew by the present config from the rewards that were paid, or from new ones. Rollouts are drawn by whole groups, as far as their rollouts were kept; with `once`, one by one.",
  sources: [
    "Sharing is Caring: Efficient LM Post-Training with Collective RL Experience Sharing",
    "Improving Language Models with Advantage-based Offline Policy Gradients",
  ],
  params: z.object({
    terms: z
      .enum(["recorded", "again"])
      .default("recorded")
      .describe("again: the present reward terms score the responses again."),
    once: z
      .boolean()
      .default(false)
      .describe(
        "Only before the first draw that could take a rollout; then its advantage stays, and `draw` knows it.",
      ),
  }),
  create: ({ terms, once }) => ({ from: "recomputed", again: terms === "again", once }),
});
