import { z } from "zod";
import { taskAnswer } from "../../../core/declaration.ts";

export const verifier = taskAnswer({
  name: "verifier",
  summary:
    "The parent's environment parses the prompt and computes the answer; it drops a prompt that it cannot parse.",
  sources: ["Endless Terminals: Scaling RL Environments for Terminal Agents"],
  params: z.object({}),
  create: () => ({ kind: "verifier" }),
});
