import { z } from "zod";
import { taskSelector, param } from "../../../core/declaration.ts";

export const failures = taskSelector({
  name: "failures",
  summary: "Tasks whose last group succeeded at most this often; default: never.",
  formula: "w(x) = 1[p̂(x) ≤ at_most]",
  sources: [
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
    "Socratic-Zero : Bootstrapping Reasoning via Data-Free Agent Co-evolution",
  ],
  params: z.object({
    at_most: param(
      z.number().min(0).max(1).default(0),
      "Highest success rate that still counts as a failure.",
    ),
  }),
  create: ({ at_most }) => ({ weigh: ({ rates }) => (rates.at(-1)! <= at_most ? 1 : 0) }),
});
