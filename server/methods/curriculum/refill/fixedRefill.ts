import { z } from "zod";
import { refill, param } from "../../../core/declaration.ts";

export const fixedRefill = refill({
  name: "fixed",
  aliases: ["replace"],
  summary: "Draws as many groups again as are missing, for a bounded number of rounds.",
  formula: "more = wanted − admitted, while round < rounds",
  sources: ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale"],
  params: z.object({ rounds: param(z.number().int().positive().default(4), "Refills at most per step.") }),
  create: ({ rounds }) => ({
    more: ({ wanted, admitted, round }) => (round >= rounds ? 0 : Math.max(0, wanted - admitted)),
  }),
});
