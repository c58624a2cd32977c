import { z } from "zod";
import { optimizer } from "../../config/declaration.ts";

export const adamw = optimizer({
  name: "adamw",
  aliases: ["adam"],
  summary:
    "Adam with decoupled weight decay, linear warm-up and clipping of the gradient by its global norm.",
  formula: "w ← w − η·(m̂ / (√v̂ + ε) + λ·w)",
  sources: ["Decoupled Weight Decay Regularization", "Adam: A Method for Stochastic Optimization"],
  params: z.strictObject({
    lr: z
      .number()
      .nonnegative()
      .default(5e-5)
      .describe(
        "Learning rate η after the warm-up; 1e-6 to 1e-4 for reinforcement learning, more for warm-up stages.",
      ),
    betas: z
      .tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)])
      .default([0.9, 0.999])
      .describe("Decay of the running means of the gradient and of its square."),
    epsilon: z.number().positive().default(1e-8).describe("ε, added to the root of the second moment."),
    weight_decay: z.number().nonnegative().default(0).describe("λ; the gains of norms never decay."),
    warmup: z
      .int()
      .nonnegative()
      .default(0)
      .describe("Updates over which the learning rate grows linearly to `lr`."),
    clip_norm: z
      .number()
      .positive()
      .nullable()
      .default(1)
      .describe("Largest global norm of the gradient; null: no clipping."),
  }),
  create: (params) => ({ name: "adamw", ...params }),
});
