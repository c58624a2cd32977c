import { z } from "zod";
import { rescore, param } from "../../core/declaration.ts";

export const rescoreRecomputed = rescore({
  name: "recomputed",
  summary:
    "Computes advantages again with the current config, from the recorded rewards or from new ones. Draws whole groups, as far as their rollouts were kept; with `once`, single rollouts. Of a `shared_log` it keeps groups whole: those of which a rollout is admitted.",
  sources: [
    "Sharing is Caring: Efficient LM Post-Training with Collective RL Experience Sharing",
    "Improving Language Models with Advantage-based Offline Policy Gradients",
  ],
  params: z.object({
    terms: param(
      z.enum(["recorded", "again"]).default("recorded"),
      "again: the current reward terms score the responses again.",
    ),
    once: param(
      z.boolean().default(false),
      "Computes each advantage once, before the first draw that could take its rollout; it then stays, and `draw` can use it.",
    ),
  }),
  create: ({ terms, once }) => ({ from: "recomputed", again: terms === "again", once }),
});
