import { z } from "zod";
import { selection } from "../../../core/declaration.ts";
import { byReward } from "./ranking.ts";

export const bestN = selection({
  name: "best_n",
  summary: "Of each group the rollouts with the best rewards train.",
  sources: ["Policy Filtration in RLHF to Fine-Tune LLM for Code Generation"],
  params: z.object({
    keep: z.number().int().positive().default(2).describe("Rollouts of a group that stay."),
  }),
  create: ({ keep }) => ({ over: "group", choose: (rows) => byReward(rows).slice(0, keep) }),
});
