/** The keys of `replay` and `auxiliary`. */
import { z } from "zod";
import { schedulable } from "../../core/schedule.ts";
import { auxiliaryDefaults } from "./defaults.ts";
import { slot, value, whole } from "./fields.ts";
import type { Field, Shape } from "./shape.ts";

/** When an auxiliary loss is due. */
export const auxiliaryTrigger = z.union([
  z.literal("always"),
  z
    .strictObject({
      every: whole(1).optional().describe("Steps between two times."),
      last: whole(1).optional().describe("The last so many steps of the stage."),
      all_failed: whole(1)
        .optional()
        .describe("When so many tasks with a solution have failed in all their rollouts: these tasks."),
    })
    .refine((when) => Object.values(when).filter((value) => value !== undefined).length === 1, {
      message: "needs one of `every`, `last` and `all_failed`",
    }),
]);

const auxiliaryItem: Shape = {
  kind: "slot",
  slot: "auxiliary",
  defaults: auxiliaryDefaults,
  own: {
    weight: value(schedulable(z.number()), "Factor on the loss."),
    when: value(
      auxiliaryTrigger,
      "always, `{ every: n }` steps, the `{ last: n }` steps of the stage, or `{ all_failed: n }`: when n tasks have failed in all their rollouts.",
    ),
    place: value(
      z.enum(["joined", "alone"]),
      "joined: part of the policy's own optimiser steps; alone: an optimiser step of its own, behind them.",
    ),
    objective: slot(
      "objective",
      "Of a learner: what its model learns. Default: `value_clipped`, a critic's.",
    ),
    optimizer: slot("optimizer", "Alone: an optimiser with a memory of its own; default: the policy's."),
  },
};

export const replayField: Field = slot(
  "replay",
  "Rollouts of earlier steps, or of a file, that train again.",
  {
    admission: slot("replay_admission", "Which rollouts are kept."),
    draw: slot("replay_draw", "How kept rollouts are drawn."),
    rescore: slot("rescore", "Where the advantages of replayed rollouts come from."),
    share: value(
      schedulable(z.number().min(0).lt(1)),
      "Share of replayed rollouts in the batch they join; 0.5: as many as fresh ones.",
    ),
    weight: value(schedulable(z.number().nonnegative()), "Factor on the loss of replayed rollouts."),
    every: value(whole(1), "Steps between two replays."),
    place: value(
      z.enum(["joint", "separate", "alone"]),
      "joint: one loss over fresh and replayed rollouts; separate: two losses with normalisers of their own, added in the same optimiser steps; alone: optimiser steps of their own, behind the fresh ones'.",
    ),
    updates: value(
      whole(1),
      "How often a step's rollouts are gone over (update-to-data ratio), each time with replayed ones drawn anew.",
    ),
    select: slot("selection", "Which of a step's own rollouts train.", {
      statistics: value(
        z.enum(["all", "kept"]),
        "Whether baselines and scales see all rollouts of the group or those that are kept.",
      ),
    }),
  },
);

export const auxiliaryField: Field = {
  shape: { kind: "list", item: auxiliaryItem, what: "auxiliary loss" },
  summary: "Losses beside the objective.",
};
