import { z } from "zod";
import { scale, param } from "../../../core/declaration.ts";

export const nonzeroShare = scale({
  name: "nonzero_share",
  aliases: ["gpg"],
  summary:
    "Multiplies by the number of rollouts for each one whose reward is not 0, which makes up for rollouts that give no gradient.",
  formula: "A_i ← A_i · N / max(1, #{r_j ≠ 0}) / F",
  sources: ["GPG: A Simple and Strong Reinforcement Learning Baseline for Model Reasoning", "verl"],
  params: z.object({ norm: param(z.number().positive().default(1), "F") }),
  create:
    ({ norm }) =>
    (centred, { rewards }) => {
      let all = 0;
      let nonzero = 0;
      for (const reward of rewards) {
        if (Number.isNaN(reward)) continue;
        all += 1;
        if (reward !== 0) nonzero += 1;
      }
      const factor = all / Math.max(1, nonzero) / norm;
      return centred.map((value) => value * factor);
    },
});
