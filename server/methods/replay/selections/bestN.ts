import { z } from "zod";
import { selection, param } from "../../../core/declaration.ts";
import { byReward } from "./ranking.ts";

export const bestN = selection({
  name: "best_n",
  summary: "Trains the rollouts with the best rewards in each group.",
  sources: ["Policy Filtration in RLHF to Fine-Tune LLM for Code Generation"],
  params: z.object({
    keep: param(z.number().int().positive().default(2), "Rollouts of a group that train."),
  }),
  create: ({ keep }) => ({ over: "group", choose: (rows) => byReward(rows).slice(0, keep) }),
});
