import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const solvable = taskGate({
  name: "solvable",
  summary: "At least one attempt of the policy succeeds.",
  formula: "Σ_i s_i ≥ 1",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({
    tries: true,
    admit: ({ tried }) =>
      tried !== undefined && tried.successes > 0
        ? { admitted: true }
        : { admitted: false, reason: "no attempt solved it" },
  }),
});
