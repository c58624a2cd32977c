import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";

export const learner = auxiliary({
  name: "learner",
  aliases: ["critic", "off_policy_critic"],
  summary:
    "Trains a model by its own `objective` before each step's advantages are computed: a critic with its own weights, its own replay buffer and as many updates as it needs. With `rollouts: step` it trains after them instead, on this step's rollouts alone, as PPO's critic does. Slow copies of it are `polyak` models. Its `place` is not read; it uses the optimiser of its model.",
  formula: "φ ← φ − η ∇ L(φ; B), B ~ buffer, `updates` times a step",
  sources: [
    "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL",
    "Advantage-Weighted Regression: Simple and Scalable Off-Policy Reinforcement Learning",
  ],
  params: z.object({
    model: param(
      refers({ to: "model", also: ["policy"] })
        .min(1)
        .default("policy"),
      "The model that trains: one of `models` that trains, or the policy itself.",
    ),
    rollouts: param(
      z.enum(["memory", "step"]).default("memory"),
      "memory: each update draws from the kept rollouts. step: a round of updates goes once over the rollouts that train, in mini-batches of `rows`, with the values and returns of the step's advantages.",
    ),
    capacity: param(
      z.number().int().positive().default(2048),
      "Rollouts kept, including those of the step; this bounds memory.",
    ),
    rows: param(z.number().int().positive().default(64), "Rollouts in each update."),
    updates: param(
      z.number().int().positive().default(1),
      "Updates per step; with `rollouts: step`, rounds over the step's rollouts.",
    ),
    each: param(
      z.enum(["rollout", "turn", "step", "token"]).default("rollout"),
      "What counts equally in the loss: rollouts of whatever length, or their turns, steps or tokens.",
    ),
  }),
  create: ({ model, rollouts, capacity, rows, updates, each }) => ({
    kind: "learner",
    model,
    rollouts,
    capacity,
    rows,
    updates,
    each,
  }),
});
