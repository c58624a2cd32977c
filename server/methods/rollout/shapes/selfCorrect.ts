import { z } from "zod";
import { episodeShape, param } from "../../../core/declaration.ts";
import { budgetParam } from "./params.ts";

export const selfCorrect = episodeShape({
  name: "self_correct",
  summary:
    "The policy answers, is asked to look for an error, and answers again, whether or not the first answer was right.",
  sources: ["Training Language Models to Self-Correct via Reinforcement Learning"],
  params: z.object({
    attempts: param(z.number().int().min(2).default(2), "Attempts in every episode."),
    instruction: param(
      z.string().min(1).default("\nThere may be an error above. Mend it, and answer again.\n"),
      "The message between two attempts.",
    ),
    budget: budgetParam,
  }),
  create: ({ attempts, instruction, budget }) => ({
    most: attempts,
    budget,
    judges: false,
    tries: () => attempts,
    reply: ({ number, tries }) => (number < tries ? instruction : undefined),
  }),
});
