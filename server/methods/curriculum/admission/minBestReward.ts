import { z } from "zod";
import { admission, param } from "../../../core/declaration.ts";
import { largest } from "../numbers.ts";
import { eachGroup, no, yes } from "./verdicts.ts";

export const minBestReward = admission({
  name: "min_best_reward",
  summary: "Leaves out groups in which no rollout earns enough: there is nothing to imitate in them.",
  formula: "max_i r_i ≥ least, or > 0 where there is none",
  sources: ["Reinforcement Fine-Tuning Naturally Mitigates Forgetting in Continual Post-Training"],
  failing: ({ least = 1 }) => (least > 0 ? "left_out" : undefined),
  params: z.object({
    least: param(z.number().optional(), "What the best rollout earns at least; default: more than 0."),
  }),
  create: ({ least }) =>
    eachGroup(({ rewards }) => {
      const best = largest(rewards);
      return (least === undefined ? best > 0 : best >= least) ? yes : no(`the best reward is ${best}`);
    }),
});
