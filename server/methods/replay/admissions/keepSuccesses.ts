import { z } from "zod";
import { replayAdmission, param } from "../../../core/declaration.ts";

export const keepSuccesses = replayAdmission({
  name: "success",
  summary: "Keeps only rollouts that count as a success (`reward.success`): a cache of solutions.",
  sources: [
    "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search",
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  ],
  params: z.object({
    perplexity: param(
      z.tuple([z.number().min(1), z.number().min(1)]).optional(),
      "Keeps only rollouts whose perplexity under the weights that generated them is within [low, high].",
    ),
  }),
  create:
    ({ perplexity }) =>
    (past) =>
      past.success === 1 &&
      (perplexity === undefined || (past.perplexity >= perplexity[0] && past.perplexity <= perplexity[1])),
});
