/** The keys of `replay` other than those of the memory. */
import { z } from "zod";
import { choice, methodBlock, scheduled, value, whole } from "./kinds.ts";

export const replay = methodBlock(
  { slot: "replay", as: "source", default: { use: "none" } },
  {
    admission: choice("replay_admission", "Which rollouts are kept for replay.", { default: "all" }),
    draw: choice("replay_draw", "How kept rollouts are drawn.", { default: "uniform" }),
    rescore: choice("rescore", "Where the advantages of replayed rollouts come from.", {
      default: "recorded",
    }),
    share: scheduled(
      z.number().min(0).lt(1),
      "Share of replayed rollouts in the batch that they join; 0.5: as many as fresh ones.",
      { default: 0.5 },
    ),
    weight: scheduled(z.number().nonnegative(), "Factor on the loss of replayed rollouts.", { default: 1 }),
    every: value(whole(1), "Steps between two replays.", { default: 1 }),
    place: value(
      z.enum(["joint", "separate", "alone"]),
      "joint: one loss over fresh and replayed rollouts; separate: two losses, each with its own normaliser, added in the same optimiser steps; alone: separate optimiser steps, after those of the fresh rollouts.",
      { default: "joint" },
    ),
    updates: value(
      whole(1),
      "How often a step trains on its rollouts (update-to-data ratio). Replayed rollouts are drawn again each time.",
      { default: 1 },
    ),
    select: choice("selection", "Which of a step's own rollouts train.", { default: "all" }),
    statistics: value(
      z.enum(["all", "kept"]),
      "Whether baselines and scales are computed over all rollouts of the group, or over those that are kept.",
      { default: "all", within: "select" },
    ),
  },
  "Rollouts of earlier steps, or of a file, that train again.",
);
