import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepSuccesses = replayAdmission({
  name: "success",
  summary: "Only rollouts that count as a success are kept (`reward.success`): a cache of solutions.",
  sources: [
    "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search",
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  ],
  params: z.object({
    perplexity: z
      .tuple([z.number().min(1), z.number().min(1)])
      .optional()
      .describe("Keeps only those of middling perplexity, [low, high], under the weights that wrote them."),
  }),
  create:
    ({ perplexity }) =>
    (past) =>
      past.success === 1 &&
      (perplexity === undefined || (past.perplexity >= perplexity[0] && past.perplexity <= perplexity[1])),
});
