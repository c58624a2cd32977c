import { z } from "zod";
import { taskAuthor } from "../../../core/declaration.ts";

export const program = taskAuthor({
  name: "program",
  summary:
    "The parent's environment makes the task, easier or harder by its own parameters, with an answer of its own.",
  sources: ["EnvGen: Generating and Adapting Environments via LLMs for Training Embodied Agents"],
  params: z.object({}),
  create: () => ({ kind: "program" }),
});
