import { z } from "zod";
import { taskAnswer } from "../../../core/declaration.ts";

export const verifier = taskAnswer({
  name: "verifier",
  summary:
    "The parent's environment reads the prompt and works the answer out; what it cannot read is dropped.",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({ kind: "verifier" }),
});
