import { z } from "zod";
import { auxiliary } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";

export const learner = auxiliary({
  name: "learner",
  aliases: ["critic", "off_policy_critic"],
  summary:
    "A model learns an `objective` of its own before each step's advantages are computed: a critic with its own weights, its own memory of rollouts and as many updates as it needs. With `rollouts: step` it learns behind them, from this step's rollouts alone, what PPO's critic learns. Slow copies of it are `polyak` models. Its `place` is not read; its optimiser is that of the model.",
  formula: "φ ← φ − η ∇ L(φ; B), B ~ memory, `updates` times a step",
  sources: [
    "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL",
    "Advantage-Weighted Regression: Simple and Scalable Off-Policy Reinforcement Learning",
  ],
  params: z.object({
    model: refers({ to: "model", also: ["policy"] })
      .min(1)
      .default("policy")
      .describe("The model that learns: one of `models` that trains, or the policy itself."),
    rollouts: z
      .enum(["memory", "step"])
      .default("memory")
      .describe(
        "memory: each update draws from what is remembered. step: a round of updates goes once over the rollouts that train, in mini-batches of `rows`, with the values and returns of the step's advantages.",
      ),
    capacity: z
      .number()
      .int()
      .positive()
      .default(2048)
      .describe("Rollouts remembered, those of the step among them: bounds memory."),
    rows: z.number().int().positive().default(64).describe("Rollouts of each update."),
    updates: z
      .number()
      .int()
      .positive()
      .default(1)
      .describe("Updates a step; with `rollouts: step`, rounds over it."),
    each: z
      .enum(["rollout", "turn", "step", "token"])
      .default("rollout")
      .describe(
        "What counts alike in the loss: rollouts, whatever their length, or their turns, steps or tokens.",
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
