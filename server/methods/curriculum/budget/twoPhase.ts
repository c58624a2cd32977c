import { z } from "zod";
import { budget, param } from "../../../core/declaration.ts";

export const twoPhase = budget({
  name: "two_phase",
  aliases: ["speed"],
  summary:
    "Tries each drawn task with a few rollouts; where some succeed and some fail, the rest of the group follows, and all of it trains.",
  formula: "n_init rollouts; `rollout.group` − n_init more where 0 < successes < n_init",
  sources: ["SPEED-RL: Faster Training of Reasoning Models via Online Curriculum Learning"],
  params: z.object({
    initial: param(z.number().int().positive().default(4), "n_init: rollouts of the first phase."),
  }),
  create: ({ initial }) => ({
    rollouts: (arms, group) => arms.map(() => Math.min(initial, group)),
    more: ({ rewards, successes }, { rollouts, size }) =>
      successes > 0 && successes < rewards.length ? Math.max(0, size - rollouts) : 0,
  }),
});
