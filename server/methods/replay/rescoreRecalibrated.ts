import { z } from "zod";
import { rescore, param } from "../../core/declaration.ts";

export const rescoreRecalibrated = rescore({
  name: "recalibrated",
  summary:
    "The reward minus a quantile of the mean rewards of recent groups, so an earlier policy's rollouts are compared with what the current policy gets.",
  formula: "A = R − quantile(mean rewards of the last `window` groups); A < 0 dropped",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  ],
  params: z.object({
    quantile: param(z.number().min(0).max(1).default(0.5), "0.5 is the median, as in the source."),
    window: param(
      z.number().int().positive().default(10_240),
      "Number of recent groups; the oldest are dropped first.",
    ),
    negatives: param(
      z.enum(["drop", "keep"]).default("drop"),
      "What happens to rollouts below the quantile.",
    ),
    divide: param(
      z.boolean().default(false),
      "Divides by the same quantile of the groups' standard deviations.",
    ),
  }),
  create: ({ quantile, window, negatives, divide }) => ({
    from: "recalibrated",
    quantile,
    window,
    negatives,
    divide,
  }),
});
