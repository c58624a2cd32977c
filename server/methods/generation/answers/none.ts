import { z } from "zod";
import { taskAnswer } from "../../../core/declaration.ts";

export const noAnswer = taskAnswer({
  name: "none",
  summary: "No answer: a reward that needs none judges, such as a reward model.",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
  ],
  params: z.object({}),
  create: () => ({ kind: "none" }),
});
