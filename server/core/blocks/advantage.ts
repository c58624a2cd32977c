/** The keys of `advantage`: from rewards to advantages. */
import { z } from "zod";
import { advantageLevels } from "../slots/advantage.ts";
import { choice, choiceItem, fraction, list, map, scheduled, value } from "./kinds.ts";

const clipSchema = z.union([
  z.literal("none"),
  z.strictObject({
    low: z.number().max(0).default(-10).describe("Least value; OpenRLHF: −10."),
    high: z.number().min(0).default(10).describe("Greatest value; OpenRLHF: 10."),
  }),
]);

export type AdvantageClip = z.output<typeof clipSchema>;

const filterOptions = z.strictObject({
  sigma: z
    .number()
    .positive()
    .optional()
    .describe("Advantages further than so many standard deviations from the step's mean become 0."),
  beyond: z.number().positive().optional().describe("Advantages larger than this, either way, become 0."),
  keep: z
    .enum(["positive", "negative", "nonzero"])
    .optional()
    .describe("Only these train; the others have no advantage, and count in no normaliser."),
  above: z.number().optional().describe("Only advantages above this train."),
  top: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe("Only the rollouts in the highest share by their mean advantage train, e.g. 0.1."),
});

const filterSchema = z.union([z.literal("none"), filterOptions]);

export type AdvantageFilter = z.output<typeof filterSchema>;

export const whitenOptions = z.strictObject({
  over: z
    .enum(["responses", "tokens"])
    .default("tokens")
    .describe("What counts once in mean and spread: each unit of the level, or each token that trains."),
  center: z.boolean().default(true).describe("Whether the mean is subtracted."),
  scale: z.boolean().default(true).describe("Whether it is divided by the standard deviation."),
  population: z.boolean().default(false).describe("Divide by n instead of n − 1."),
  epsilon: z.number().nonnegative().optional().describe("ε; default 1e-8 over tokens, 1e-4 over responses."),
  inside: z
    .enum(["variance", "deviation", "floor"])
    .optional()
    .describe(
      "Where ε stands: √(var + ε) (verl), std + ε (TRL), or √max(var, ε) (OpenRLHF). Default: verl's over tokens, TRL's over responses.",
    ),
});

const whitenSchema = z.union([z.enum(["none", "responses", "tokens"]), whitenOptions]);

export type Whiten = z.output<typeof whitenSchema>;

const factor = "Factor on advantages of this sign; 0 takes them out of the gradient.";

export const advantage = map(
  {
    baseline: choice("baseline", "What is subtracted from a rollout's reward.", { default: "group_mean" }),
    scale: choice("scale", "What the difference is divided by.", { default: "group_std" }),
    level: value(
      z.enum(["auto", ...advantageLevels]),
      "The unit that baseline and scale see; auto: what the baseline is made for (a critic: the token), else the response. Turns and steps are those the rollouts record; a segment is a run of tokens that train.",
      { default: "auto" },
    ),
    gamma: scheduled(
      fraction,
      "γ, the discount from one unit to the next of the returns to go, below response level.",
      { default: 1 },
    ),
    returns: value(
      z.enum(["after", "before", "none"]),
      "Below response level: centred and scaled values are summed over what comes later (after), returns are centred and scaled (before), or each unit has its own value alone (none).",
      { default: "after" },
    ),
    per_source: value(
      z.boolean(),
      "Each reward term is centred and scaled alone, at its own level where that is coarser, then weighed and summed.",
      { default: false },
    ),
    penalty: value(
      z.enum(["in_reward", "apart"]),
      "A KL penalty on the reward: taken off before the baseline, or kept apart from it and taken off each token's return. With `per_source` always apart.",
      { default: "in_reward" },
    ),
    observations: value(
      z.enum(["skip", "discount"]),
      "Whether untrained tokens between two that train are passed over, or count in discounts.",
      { default: "skip" },
    ),
    whiten: value(
      whitenSchema,
      "Standardises the finished advantages over the step: over its responses, its tokens, or in detail.",
      { default: "none" },
    ),
    sign: map(
      {
        positive: scheduled(z.number(), factor, { default: 1 }),
        negative: scheduled(z.number(), factor, { default: 1 }),
      },
      "Factors by the advantage's sign.",
    ),
    filter: value(filterSchema, "Advantages that are left out.", { default: "none" }),
    prefix: value(
      z.enum(["soft", "hard"]),
      "Tokens that a rollout shares with its branches: each keeps its own advantage (soft), or they get the mean of all (hard).",
      { default: "soft" },
    ),
    clip: value(
      clipSchema,
      "Bounds on centred and scaled values, before what comes later is summed and a penalty apart is taken off.",
      { default: "none" },
    ),
    unscored: value(
      z.enum(["leave_out", "zero"]),
      "A rollout to which no reward applies: it does not train, or it counts in the normalisers with advantage 0 (TRL).",
      { default: "leave_out" },
    ),
    token_weights: list(
      "token weight",
      choiceItem("token_weight"),
      "Factors on tokens, multiplied with each other.",
    ),
  },
  "From rewards to advantages.",
);
