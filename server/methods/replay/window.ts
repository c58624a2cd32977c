import { z } from "zod";
import { replaySource, param } from "../../core/declaration.ts";

export const window = replaySource({
  name: "window",
  aliases: ["buffer"],
  summary:
    "Keeps the newest rollouts of earlier steps; the oldest are dropped when the window is full or when they are too old.",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
    "Squeeze the Soaked Sponge: Efficient Off-policy Reinforcement Finetuning for Large Language Model",
  ],
  params: z.object({
    capacity: param(z.number().int().positive().default(2048), "Most rollouts kept; this bounds memory."),
    max_age: param(
      z.number().int().positive().optional(),
      "Steps after which a rollout is dropped; default: never.",
    ),
    burst: param(
      z.boolean().default(false),
      "Replays only once the window is full: everything at once, and then it starts empty.",
    ),
  }),
  create: ({ capacity, max_age, burst }) => ({ kind: "window", capacity, max_age, burst }),
});
