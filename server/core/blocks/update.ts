/** The keys of `update`: how rollouts become optimiser steps. */
import { z } from "zod";
import { choice, made, map, moving, value, whole } from "./kinds.ts";
import { learningRateSchedule } from "./learningRate.ts";

export const update = map(
  {
    optimizer: choice("optimizer", "How gradients move the weights.", {
      default: "adamw",
      live: ["lr", "weight_decay", "clip_norm"],
    }),
    schedule: moving(
      learningRateSchedule,
      "Factor on `lr` over the steps after the warm-up: `constant`, `linear` or `cosine` (to 0 at the end), `inverse_sqrt`, `wsd` (stable, then a fall), one of them with a `floor`, or a schedule.",
      { default: "constant", live: true, within: "optimizer" },
    ),
    mini_batch: value(whole(1), "Rollouts per optimiser step (mini-batch). Default: all of the step's."),
    epochs: value(whole(1), "Epochs over each step's rollouts.", { default: 1 }),
    reset_every: value(
      whole(1),
      "Steps after which the optimiser starts again, including its warm-up. Default: never within a stage.",
    ),
    micro_tokens: made(
      value(
        z.union([z.literal("auto"), whole(1)]),
        "Tokens per forward pass. It bounds memory and changes no result.",
        { default: "auto" },
      ),
      (tokens) => (tokens === "auto" ? undefined : tokens),
    ),
  },
  "The optimiser, and how a step's rollouts become optimiser steps.",
);
