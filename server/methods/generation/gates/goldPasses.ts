import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const goldPasses = taskGate({
  name: "gold_passes",
  summary: "The config's own reward counts the task's written solution (or its answer) as a success.",
  formula: "s(solution) = 1",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({
    tries: false,
    gold: true,
    admit: ({ gold }) => {
      if (gold === undefined) return { admitted: false, reason: "it has no written solution" };
      if (gold.rewards.length === 0)
        return { admitted: false, reason: "its written solution could not be scored" };
      return gold.successes > 0
        ? { admitted: true }
        : { admitted: false, reason: "its written solution is not a success" };
    },
  }),
});
