import { z } from "zod";
import { selection, param } from "../../../core/declaration.ts";
import { byReward } from "./ranking.ts";

export const bestWorst = selection({
  name: "best_worst",
  summary: "Trains the rollouts with the best and the worst rewards in each group.",
  sources: ["Policy Filtration in RLHF to Fine-Tune LLM for Code Generation"],
  params: z.object({
    best: param(z.number().int().positive().default(1), "How many of the best."),
    worst: param(z.number().int().positive().default(1), "How many of the worst."),
  }),
  create: ({ best, worst }) => ({
    over: "group",
    choose: (rows) => {
      const order = byReward(rows);
      return [...new Set([...order.slice(0, best), ...order.slice(-worst)])];
    },
  }),
});
