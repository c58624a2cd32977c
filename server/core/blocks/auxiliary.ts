/** The keys of an `auxiliary` entry beside those of the loss. */
import { z } from "zod";
import { choice, list, method, scheduled, value, whole } from "./kinds.ts";

/** When an auxiliary loss is due. */
const auxiliaryTrigger = z.union([
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

const item = method("auxiliary", "loss", {
  weight: scheduled(z.number(), "Factor on the loss.", { default: 1 }),
  when: value(
    auxiliaryTrigger,
    "always, `{ every: n }` steps, the `{ last: n }` steps of the stage, or `{ all_failed: n }`: when n tasks have failed in all their rollouts.",
    { default: "always" },
  ),
  place: value(
    z.enum(["joined", "alone"]),
    "joined: part of the policy's own optimiser steps; alone: an optimiser step of its own, behind them.",
    { default: "joined" },
  ),
  objective: choice(
    "objective",
    "Of a learner: what its model learns. Default: `value_clipped`, a critic's.",
  ),
  optimizer: choice("optimizer", "Alone: an optimiser with a memory of its own; default: the policy's."),
});

export const auxiliary = list("auxiliary loss", item, "Losses beside the objective.");
