/** The keys of `objective` beside those of the chosen loss. */
import { z } from "zod";
import { entropySchema } from "../../core/blocks/objective.ts";
import { schedulable } from "../../core/schedule.ts";
import { besideDefaults, valueDefaults } from "./defaults.ts";
import { slot, value } from "./fields.ts";
import type { Field, Shape } from "./shape.ts";

/** A second objective, of a value head: a critic learns in the update that it serves. */
const valueLoss: Field = {
  shape: {
    kind: "slot",
    slot: "objective",
    defaults: valueDefaults,
    own: {
      coefficient: value(schedulable(z.number().nonnegative()), "Factor on the value loss (`vf_coef`)."),
    },
  },
  summary: "The loss of a value head, added to the objective's, e.g. `value_clipped`: so a critic learns.",
};

/** A loss over the same rollouts beside the objective, with its own factor in the sum. */
const besideItem: Shape = {
  kind: "slot",
  slot: "objective",
  defaults: besideDefaults,
  own: {
    factor: value(schedulable(z.number()), "Factor on this loss."),
    of: value(
      z.enum(["policy", "pair"]),
      "Whose rollouts it is over: those of the objective, or those that `route` sends to `pair`.",
    ),
  },
};

export const objectiveField: Field = slot("objective", "The loss whose gradient trains the policy.", {
  aggregate: slot("aggregate", "The normaliser: how per-token losses become one number."),
  factor: value(schedulable(z.number()), "Factor on the objective, where other losses stand beside it."),
  also: {
    shape: { kind: "list", item: besideItem, what: "loss" },
    summary: "Further losses over the same rollouts, summed with the objective, each times its `factor`.",
  },
  value: valueLoss,
  correction: {
    shape: {
      kind: "list",
      item: { kind: "slot", slot: "correction", own: {} },
      what: "correction",
    },
    summary:
      "Weights and rejections for tokens that another distribution drew; KL terms go without the weights.",
  },
  entropy: value(
    z.union([...schedulable(z.number()).options, entropySchema]).meta({ schedulable: true }),
    "The entropy bonus, subtracted from the loss: its coefficient, or `{ coefficient, share, … }`.",
  ),
});
