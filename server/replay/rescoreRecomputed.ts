import { z } from "zod";
import { rescore } from "../config/declaration.ts";

export const rescoreRecomputed = rescore({
  name: "recomputed",
  summary:
    "Advantages are computed anew by the present config from the rewards that were paid, or from new ones. Rollouts are drawn by whole groups, as far as their rollouts were kept.",
  sources: ["Sharing is Caring: Efficient LM Post-Training with Collective RL Experience Sharing"],
  params: z.object({
    terms: z
      .enum(["recorded", "again"])
      .default("recorded")
      .describe("again: the present reward terms score the responses again."),
  }),
  create: ({ terms }) => ({ from: "recomputed", again: terms === "again" }),
});
