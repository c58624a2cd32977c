/** The keys of an `auxiliary` entry other than those of the loss. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { choice, list, method, scheduled, value, whole } from "./kinds.ts";

/** When an auxiliary loss is due. */
const auxiliaryTrigger = z.union([
  z.literal("always"),
  z
    .strictObject({
      every: param(whole(1).optional(), "The loss acts every so many steps."),
      last: param(whole(1).optional(), "The loss acts in the last so many steps of the stage."),
      all_failed: param(
        whole(1).optional(),
        "The loss acts when so many tasks with a solution have failed in all their rollouts, on these tasks.",
      ),
    })
    .refine((when) => Object.values(when).filter((value) => value !== undefined).length === 1, {
      message: "needs one of `every`, `last` and `all_failed`",
    }),
]);

/** A further loss over an author's texts. */
const alsoLoss = method("objective", "loss", {
  factor: scheduled(z.number(), "Factor on this loss.", { default: 1 }),
});

const item = method("auxiliary", "loss", {
  weight: scheduled(z.number(), "Factor on the loss.", { default: 1 }),
  when: value(
    auxiliaryTrigger,
    "When the loss acts: always, every n steps (`{ every: n }`), in the stage's last n steps (`{ last: n }`), or when n tasks have failed in all their rollouts (`{ all_failed: n }`).",
    { default: "always" },
  ),
  place: value(
    z.enum(["joined", "alone"]),
    "joined: part of the policy's own optimiser steps; alone: a separate optimiser step after them.",
    { default: "joined" },
  ),
  objective: choice(
    "objective",
    "For a learner or an author: the loss that its model learns by. Default: `value_clipped`, a critic's loss; for an author `clipped`.",
  ),
  also: list(
    "loss",
    alsoLoss,
    "For an author: further losses over its texts, each multiplied by its `factor` and added to the objective.",
    {},
  ),
  optimizer: choice("optimizer", "For `alone`: an optimiser with its own state. Default: the policy's."),
});

export const auxiliary = list("auxiliary loss", item, "Losses in addition to the objective.");
