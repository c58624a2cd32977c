import { z } from "zod";
import { replaySource } from "../../core/declaration.ts";

export const window = replaySource({
  name: "window",
  aliases: ["buffer"],
  summary:
    "Keeps the newest rollouts of earlier steps; the oldest go when there is no room or they are too old.",
  sources: [
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
    "Squeeze the Soaked Sponge: Efficient Off-policy Reinforcement Finetuning for Large Language Model",
  ],
  params: z.object({
    capacity: z.number().int().positive().default(2048).describe("Rollouts kept: bounds memory."),
    max_age: z
      .number()
      .int()
      .positive()
      .optional()
      .describe("Steps after which a rollout is forgotten; default: never."),
    burst: z
      .boolean()
      .default(false)
      .describe("Replays only once the memory is full, all of it in one go, and then begins afresh."),
  }),
  create: ({ capacity, max_age, burst }) => ({ kind: "window", capacity, max_age, burst }),
});
