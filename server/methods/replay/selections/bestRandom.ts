import { z } from "zod";
import { selection, param } from "../../../core/declaration.ts";
import { withoutReplacement } from "../draws/drawing.ts";
import { byReward } from "./ranking.ts";

export const bestRandom = selection({
  name: "best_random",
  summary: "Trains the rollout with the best reward in each group and others drawn at random.",
  sources: ["Policy Filtration in RLHF to Fine-Tune LLM for Code Generation"],
  params: z.object({
    keep: param(z.number().int().min(2).default(2), "Rollouts of a group that train, including the best."),
  }),
  create: ({ keep }) => ({
    over: "group",
    choose: (rows, random) => {
      const [best, ...rest] = byReward(rows);
      return best === undefined ? [] : [best, ...withoutReplacement(rest, keep - 1, random)];
    },
  }),
});
