import { z } from "zod";
import { budget, param } from "../../../core/declaration.ts";

export const untilMixed = budget({
  name: "until_mixed",
  aliases: ["adaptive_rounds"],
  summary:
    "Generates a group again and again until it has enough successes and enough failures, for a bounded number of rounds.",
  formula:
    "`rollout.group` rollouts a round; another one while successes < right or failures < wrong, up to `rounds`",
  sources: ["Reinforce-Ada: An Adaptive Sampling Framework for Reinforce-Style LLM Training"],
  params: z.object({
    right: param(z.number().int().min(0).default(2), "Successes that are enough."),
    wrong: param(
      z.number().int().min(0).default(2),
      "Failures that are enough; 0 with `right: 1` is the source's `positive_focused`.",
    ),
    rounds: param(z.number().int().positive().default(4), "Rounds at most."),
  }),
  create: ({ right, wrong, rounds }) => ({
    more: ({ rewards, successes }, { lots, size }) =>
      lots < rounds && (successes < right || rewards.length - successes < wrong) ? size : 0,
  }),
});
