/** The keys of `objective` beside those of the chosen loss. */
import { z } from "zod";
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
  coefficient: schedulable(z.number()).describe("Factor on the bonus, which is subtracted from the loss."),
  share: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe("The bonus acts on this share of the trained tokens: those of highest entropy."),
  low: z.number().optional().describe("Tokens of lower entropy have no bonus, in nats; default: no bound."),
  high: z.number().optional().describe("Tokens of higher entropy have no bonus, in nats; default: no bound."),
  aggregate: z
    .enum(["objective", "token_mean"])
    .default("objective")
    .describe("Averaged as the objective is, or as the mean over the tokens it acts on (TRL)."),
  adaptive: z
    .strictObject({
      target: z
        .number()
        .nonnegative()
        .default(0.2)
        .describe("Entropy, in nats, above which there is no bonus."),
      delta: z
        .number()
        .positive()
        .default(0.005)
        .describe("What each update adds to the coefficient below the target, and takes off above."),
      least: z.number().default(0).describe("Lower bound of the coefficient."),
      most: z.number().default(1).describe("Upper bound of the coefficient."),
    })
    .optional()
    .describe("The coefficient follows the measured entropy, from `coefficient` on (TRL)."),
});

export type EntropyOptions = z.output<typeof entropySchema>;

/** A second objective, of a value head: a critic learns in the update that it serves. */
const valueLoss = method("objective", "loss", {
  coefficient: scheduled(z.number().nonnegative(), "Factor on the value loss (`vf_coef`).", { default: 0.5 }),
});

/** A loss over the same rollouts beside the objective, with its own factor in the sum. */
const besideLoss = method("objective", "loss", {
  factor: scheduled(z.number(), "Factor on this loss.", { default: 1 }),
  of: value(
    z.enum(["policy", "pair"]),
    "Whose rollouts it is over: those of the objective, or those that `route` sends to `pair`.",
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
      scheduled(z.number(), "Factor on the objective, where other losses stand beside it."),
      (factor) => factor ?? 1,
    ),
    also: list(
      "loss",
      besideLoss,
      "Further losses over the same rollouts, summed with the objective, each times its `factor`.",
      {},
    ),
    value: whereWritten(
      valueLoss,
      "The loss of a value head, added to the objective's, e.g. `value_clipped`: so a critic learns.",
    ),
    correction: list(
      "correction",
      choiceItem("correction"),
      "Weights and rejections for tokens that another distribution drew; KL terms go without the weights.",
    ),
    entropy: moving(
      z.union([...schedulable(z.number()).options, entropySchema]).meta({ schedulable: true }),
      "The entropy bonus, subtracted from the loss: its coefficient, or `{ coefficient, share, … }`.",
      { default: 0, live: true },
    ),
  },
  "The loss whose gradient trains the policy.",
);
