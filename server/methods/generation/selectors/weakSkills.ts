import { z } from "zod";
import { taskSelector, param } from "../../../core/declaration.ts";

export const weakSkills = taskSelector({
  name: "weak_skills",
  aliases: ["failure_ratio"],
  summary:
    "Kinds of task (a source and its difficulty) in proportion to how often they fail; within a kind every task is equally likely.",
  formula: "share(k) ∝ 1 − mean p̂ over the tasks of k, where that is at least `above`",
  sources: ["EnvGen: Generating and Adapting Environments via LLMs for Training Embodied Agents"],
  status: "approximate",
  params: z.object({
    above: param(z.number().min(0).max(1).default(0), "Failure rate below which a kind is left alone."),
  }),
  create: ({ above }) => ({
    weigh: () => 1,
    share: ({ rate }) => (1 - rate >= above ? 1 - rate : 0),
  }),
});
