import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const builds = taskGate({
  name: "builds",
  summary: "The environment can parse the prompt as one of its own tasks.",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({
    tries: false,
    admit: ({ read }) =>
      read === undefined || read === null
        ? { admitted: false, reason: "its environment cannot parse it" }
        : { admitted: true },
  }),
});
