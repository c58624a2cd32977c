import { z } from "zod";
import { taskAnswer } from "../../../core/declaration.ts";

export const noAnswer = taskAnswer({
  name: "none",
  summary: "No answer, for rewards that need none, such as a reward model.",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
  ],
  params: z.object({}),
  create: () => ({ kind: "none" }),
});
