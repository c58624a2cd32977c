import { z } from "zod";
import { optimizer } from "../../config/declaration.ts";

export const adamw = optimizer({
  name: "adamw",
  summary: "Adam with decoupled weight decay.",
  formula: "θ ← θ − lr · (m̂ / (√v̂ + ε) + weight_decay · θ)",
  sources: ["Decoupled Weight Decay Regularization"],
  params: z.object({
    lr: z.number().positive().default(1e-4).describe("Learning rate after warm-up."),
    betas: z.tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)]).default([0.9, 0.95]).describe("Decay of the first and second moment."),
    epsilon: z.number().positive().default(1e-8).describe("Added to the root of the second moment."),
    weight_decay: z.number().nonnegative().default(0).describe("Decoupled decay of matrices, per unit of learning rate."),
    warmup: z.number().int().nonnegative().default(0).describe("Optimiser steps over which the rate rises from 0."),
    clip_norm: z.number().positive().nullable().default(1).describe("Gradients of a larger global norm are scaled down to it; null: never."),
  }),
  create: (params) => ({ name: "adamw", ...params }),
});
