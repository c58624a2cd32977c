import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { guidanceTrigger, param } from "../../../core/declaration.ts";

export const wrong = guidanceTrigger({
  name: "wrong",
  summary: "Helps rollouts that failed, each with a probability, whatever the others of the group did.",
  sources: [
    "REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation",
    "Agent-RLVR: Training Software Engineering Agents via Guidance and Environment Rewards",
  ],
  params: z.object({
    share: param(
      schedulable(z.number().min(0).max(1)).default(1),
      "Probability that a failed rollout is helped.",
    ),
    after_step: param(z.number().int().min(0).default(0), "Steps of the run before the first help."),
  }),
  create: ({ share, after_step }) => ({
    looks: "after",
    members: ({ size, success }, { clock, random }) => {
      if (clock.step < after_step) return [];
      const odds = valueAt(share, clock);
      return Array.from({ length: size }, (_, i) => i).filter(
        (i) => success?.[i] === 0 && random.fork(i).next() < odds,
      );
    },
  }),
});
