import { z } from "zod";
import { episodeShape, param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";
import { budgetParam } from "./params.ts";

export const multiAttempt = episodeShape({
  name: "multi_attempt",
  summary:
    "Several attempts at a task: after a wrong one the policy reads that it was wrong and how many are left, until one is right or none is left.",
  formula: "N ~ U{low, …, high}; ends at the first right attempt, at most at the N-th",
  sources: ["Learning from Failures in Multi-Attempt Reinforcement Learning"],
  params: z.object({
    low: param(z.number().int().min(1).default(1), "Fewest attempts that an episode may have."),
    high: param(
      z.number().int().min(1).default(5),
      "Most attempts that an episode may have; evaluations allow this many.",
    ),
    feedback: param(
      template("left").default("\nIncorrect, {left} left.\n"),
      "The message after a wrong attempt; `{left}`: attempts that are left.",
    ),
    ask: param(
      template("prompt", "left").default("{prompt}"),
      "Template of the first prompt: `{prompt}`, and `{left}`, the attempts that the episode has.",
    ),
    budget: budgetParam,
  }),
  create: ({ low, high, feedback, ask, budget }) => {
    const [least, most] = [Math.min(low, high), Math.max(low, high)];
    return {
      most,
      budget,
      judges: true,
      tries: (random) => least + random.integer(most - least + 1),
      ...(ask !== "{prompt}" && {
        ask: (prompt: string, tries: number) => fill(ask, { prompt, left: String(tries) }),
      }),
      reply: ({ number, tries, right }) =>
        right === false && number < tries ? fill(feedback, { left: String(tries - number) }) : undefined,
    };
  },
});
