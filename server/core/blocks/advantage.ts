/** The keys of `advantage`: from rewards to advantages. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { advantageLevels } from "../slots/advantage.ts";
import { choice, choiceItem, fraction, list, map, scheduled, value } from "./kinds.ts";

const clipSchema = z.union([
  z.literal("none"),
  z.strictObject({
    low: param(z.number().max(0).default(-10), "Least value; OpenRLHF: −10."),
    high: param(z.number().min(0).default(10), "Greatest value; OpenRLHF: 10."),
  }),
]);

export type AdvantageClip = z.output<typeof clipSchema>;

const filterOptions = z.strictObject({
  sigma: param(
    z.number().positive().optional(),
    "Advantages more than this many standard deviations from the step's mean become 0.",
  ),
  beyond: param(z.number().positive().optional(), "Advantages larger than this in absolute value become 0."),
  keep: param(
    z.enum(["positive", "negative", "nonzero"]).optional(),
    "Only these train. The others have no advantage and count in no normaliser.",
  ),
  above: param(z.number().optional(), "Only advantages above this train."),
  top: param(
    z.number().gt(0).max(1).optional(),
    "Only the rollouts in the highest share by their mean advantage train, e.g. 0.1.",
  ),
});

const filterSchema = z.union([z.literal("none"), filterOptions]);

export type AdvantageFilter = z.output<typeof filterSchema>;

export const whitenOptions = z.strictObject({
  over: param(
    z.enum(["responses", "tokens"]).default("tokens"),
    "What counts once in the mean and standard deviation: each unit of the level, or each token that trains.",
  ),
  center: param(z.boolean().default(true), "Whether the mean is subtracted."),
  scale: param(z.boolean().default(true), "Whether the result is divided by the standard deviation."),
  population: param(z.boolean().default(false), "Divide by n instead of n − 1."),
  epsilon: param(z.number().nonnegative().optional(), "ε; default 1e-8 over tokens, 1e-4 over responses."),
  inside: param(
    z.enum(["variance", "deviation", "floor"]).optional(),
    "Where ε is added: √(var + ε) (verl), std + ε (TRL), or √max(var, ε) (OpenRLHF). Default: verl's over tokens, TRL's over responses.",
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
      "The unit that baseline and scale work on. auto: the unit that the baseline is made for (a critic: the token), else the response. Turns and steps are those that the rollouts record. A segment is a run of tokens that train.",
      { default: "auto" },
    ),
    gamma: scheduled(
      fraction,
      "γ: below response level, the discount of the returns to go from one unit to the next.",
      { default: 1 },
    ),
    returns: value(
      z.enum(["after", "before", "none"]),
      "Below response level. after: centred and scaled values are summed over later units; before: the returns are centred and scaled; none: each unit keeps its own value.",
      { default: "after" },
    ),
    per_source: value(
      z.boolean(),
      "Each reward term is centred and scaled separately, at its own level where that is coarser. The terms are then weighted and summed.",
      { default: false },
    ),
    penalty: value(
      z.enum(["in_reward", "apart"]),
      "Where a KL penalty on the reward is subtracted: from the reward before the baseline, or from each token's return, apart from the baseline. With `per_source` it is always apart.",
      { default: "in_reward" },
    ),
    observations: value(
      z.enum(["skip", "discount"]),
      "Whether untrained tokens between two that train are skipped, or count in discounts.",
      { default: "skip" },
    ),
    whiten: value(
      whitenSchema,
      "Standardises the finished advantages of the step: over its responses, over its tokens, or as a map says in detail.",
      { default: "none" },
    ),
    sign: map(
      {
        positive: scheduled(z.number(), factor, { default: 1 }),
        negative: scheduled(z.number(), factor, { default: 1 }),
      },
      "Factors on advantages by their sign.",
    ),
    filter: value(filterSchema, "Which advantages are left out of training.", { default: "none" }),
    prefix: value(
      z.enum(["soft", "hard"]),
      "Tokens that a rollout shares with its branches: each keeps its own advantage (soft), or they get the mean of all (hard).",
      { default: "soft" },
    ),
    clip: value(
      clipSchema,
      "Bounds on centred and scaled values, before later values are summed and before a separate KL penalty is subtracted.",
      { default: "none" },
    ),
    unscored: value(
      z.enum(["leave_out", "zero"]),
      "What happens to a rollout to which no reward applies: it does not train, or it counts in the normalisers with advantage 0 (TRL).",
      { default: "leave_out" },
    ),
    token_weights: list(
      "token weight",
      choiceItem("token_weight"),
      "Factors on tokens. Several are multiplied.",
    ),
  },
  "How rewards become advantages.",
);
