import { z } from "zod";
import { taskAuthor } from "../../../core/declaration.ts";

export const program = taskAuthor({
  name: "program",
  summary:
    "The parent's environment makes an easier or harder task from its own parameters, and computes the answer.",
  sources: ["EnvGen: Generating and Adapting Environments via LLMs for Training Embodied Agents"],
  params: z.object({}),
  create: () => ({ kind: "program" }),
});
