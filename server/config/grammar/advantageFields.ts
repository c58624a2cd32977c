/** The keys of `advantage` beside baseline and scale. */
import { z } from "zod";
import { clipSchema, filterSchema, whitenSchema } from "../../core/blocks/advantage.ts";
import { advantageLevels } from "../../core/slots/advantage.ts";
import { schedulable } from "../../core/schedule.ts";
import { fraction, map, value } from "./fields.ts";
import type { Fields } from "./shape.ts";

const factor = value(
  schedulable(z.number()),
  "Factor on advantages of this sign; 0 takes them out of the gradient.",
);

/** What surrounds baseline and scale; each key is a switch of its own. */
export const advantageFields: Fields = {
  level: value(
    z.enum(["auto", ...advantageLevels]),
    "The unit that baseline and scale see; auto: what the baseline is made for (a critic: the token), else the response. Turns and steps are those the rollouts record; a segment is a run of tokens that train.",
  ),
  gamma: value(
    schedulable(fraction),
    "γ, the discount from one unit to the next of the returns to go, below response level.",
  ),
  returns: value(
    z.enum(["after", "before", "none"]),
    "Below response level: centred and scaled values are summed over what comes later (after), returns are centred and scaled (before), or each unit has its own value alone (none).",
  ),
  per_source: value(
    z.boolean(),
    "Each reward term is centred and scaled alone, at its own level where that is coarser, then weighed and summed.",
  ),
  penalty: value(
    z.enum(["in_reward", "apart"]),
    "A KL penalty on the reward: taken off before the baseline, or kept apart from it and taken off each token's return. With `per_source` always apart.",
  ),
  observations: value(
    z.enum(["skip", "discount"]),
    "Whether untrained tokens between two that train are passed over, or count in discounts.",
  ),
  whiten: value(
    whitenSchema,
    "Standardises the finished advantages over the step: over its responses, its tokens, or in detail.",
  ),
  sign: map({ positive: factor, negative: factor }, "Factors by the advantage's sign."),
  filter: value(filterSchema, "Advantages that are left out."),
  prefix: value(
    z.enum(["soft", "hard"]),
    "Tokens that a rollout shares with its branches: each keeps its own advantage (soft), or they get the mean of all (hard).",
  ),
  clip: value(
    clipSchema,
    "Bounds on centred and scaled values, before what comes later is summed and a penalty apart is taken off.",
  ),
  unscored: value(
    z.enum(["leave_out", "zero"]),
    "A rollout to which no reward applies: it does not train, or it counts in the normalisers with advantage 0 (TRL).",
  ),
  token_weights: {
    shape: { kind: "list", item: { kind: "slot", slot: "token_weight", own: {} }, what: "token weight" },
    summary: "Factors on tokens, multiplied with each other.",
  },
};
