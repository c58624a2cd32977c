import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const notTrivial = taskGate({
  name: "not_trivial",
  summary: "At least one attempt of the policy fails.",
  formula: "Σ_i s_i < n",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({
    tries: true,
    admit: ({ tried }) =>
      tried !== undefined && tried.successes < tried.rewards.length
        ? { admitted: true }
        : { admitted: false, reason: "every attempt solved it" },
  }),
});
