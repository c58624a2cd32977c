/** The keys of `objective` other than those of the chosen loss. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { schedulable } from "../schedule.ts";
import {
  choice,
  choiceItem,
  list,
  made,
  method,
  methodBlock,
  moving,
  scheduled,
  value,
  whereWritten,
} from "./kinds.ts";

const entropySchema = z.strictObject({
  coefficient: param(schedulable(z.number()), "Factor on the bonus, which is subtracted from the loss."),
  share: param(
    z.number().gt(0).max(1).default(1),
    "The bonus acts on this share of the trained tokens: those of highest entropy.",
  ),
  low: param(z.number().optional(), "Tokens of lower entropy (in nats) get no bonus. Default: no bound."),
  high: param(z.number().optional(), "Tokens of higher entropy (in nats) get no bonus. Default: no bound."),
  aggregate: param(
    z.enum(["objective", "token_mean"]).default("objective"),
    "How the bonus is averaged: as the objective is, or as the mean over the tokens it acts on (TRL).",
  ),
  adaptive: param(
    z
      .strictObject({
        target: param(
          z.number().nonnegative().default(0.2),
          "Entropy, in nats, above which there is no bonus.",
        ),
        delta: param(
          z.number().positive().default(0.005),
          "What each update adds to the coefficient below the target, and subtracts above it.",
        ),
        least: param(z.number().default(0), "Lower bound of the coefficient."),
        most: param(z.number().default(1), "Upper bound of the coefficient."),
      })
      .optional(),
    "The coefficient adapts to the measured entropy, starting from `coefficient` (TRL).",
  ),
});

export type EntropyOptions = z.output<typeof entropySchema>;

/** A second objective, of a value head: a critic learns in the update that it serves. */
const valueLoss = method("objective", "loss", {
  coefficient: scheduled(z.number().nonnegative(), "Factor on the value loss (`vf_coef`).", { default: 0.5 }),
});

/** A loss over the same rollouts in addition to the objective, with its own factor in the sum. */
const alsoLoss = method("objective", "loss", {
  factor: scheduled(z.number(), "Factor on this loss.", { default: 1 }),
  of: value(
    z.enum(["policy", "pair"]),
    "Which rollouts the loss is over: those of the objective, or those that `route` sends to `pair`.",
    { default: "policy" },
  ),
});

export const objective = methodBlock(
  { slot: "objective", as: "loss", default: { use: "clipped", low: 0.2, high: 0.2 } },
  {
    aggregate: choice("aggregate", "The normaliser: how per-token losses become one number.", {
      default: { use: "sequence_mean", empty_rows: "count" },
    }),
    factor: made(
      scheduled(z.number(), "Factor on the objective, where there are other losses too."),
      (factor) => factor ?? 1,
    ),
    also: list(
      "loss",
      alsoLoss,
      "Further losses over the same rollouts, each multiplied by its `factor` and added to the objective.",
      {},
    ),
    value: whereWritten(
      valueLoss,
      "The loss of a value head, e.g. `value_clipped`, added to the objective. It trains a critic.",
    ),
    correction: list(
      "correction",
      choiceItem("correction"),
      "Importance corrections: weights and rejections for tokens that another policy or sampler generated. KL entries do not use the weights.",
    ),
    entropy: moving(
      z.union([...schedulable(z.number()).options, entropySchema]).meta({ schedulable: true }),
      "The entropy bonus, subtracted from the loss: its coefficient, or `{ coefficient, share, … }`.",
      { default: 0, live: true },
    ),
  },
  "The loss whose gradient trains the policy.",
);
