import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { value } from "../perRow.ts";
import { numbersOf, ofTerm } from "../said.ts";

const params = z.object({
  of: ofTerm,
  flip: param(z.number().min(0).max(1).default(0.4), "Probability that 1 − r is rewarded."),
  unit: param(
    z.enum(["prompt", "rollout"]).default("prompt"),
    "Whether all rollouts of a group are flipped together, or each by itself.",
  ),
});

export const flip = rewardTerm({
  name: "flip",
  summary: "Another term's reward with noise: for a share of the prompts, 1 − r. Give that term weight 0.",
  formula: "r = 1 − r_of with probability flip, else r_of",
  sources: ["The Climb Carves Wisdom Deeper Than the Summit: On the Noisy Rewards in Learning to Reason"],
  judges: "answer",
  reads: ({ of }) => [of],
  computes: () => true,
  params,
  create: ({ of, flip: probability, unit }, { random }) => ({
    score: (batch, context) => {
      const scored = numbersOf(context, of).map((said, row): TermValue => {
        if (typeof said !== "number") return said;
        const { group, index, use } = batch.records[row]!;
        // What evaluation reports is not to have noise in it.
        if (use === "evaluate") return value(said);
        const key = unit === "prompt" ? [group] : [group, index];
        const flipped = random.fork("flip", context.clock.step, ...key).next() < probability;
        return { ...value(flipped ? 1 - said : said), components: { flipped: Number(flipped) } };
      });
      return Promise.resolve(scored);
    },
  }),
});
