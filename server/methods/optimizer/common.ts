/** What every optimiser takes, and how a method becomes what the engine drives. */
import { z } from "zod";
import type { UpdateRule, OptimizerChoice } from "../../core/slots/optimizer.ts";

export const learningRate = (standard: number, advice: string): z.ZodDefault<z.ZodNumber> =>
  z.number().nonnegative().default(standard).describe(`Learning rate η after the warm-up; ${advice}`);

export const beta = z.number().min(0).lt(1);

/** Keys that all optimisers share. */
export const common = {
  weight_decay: z
    .number()
    .nonnegative()
    .default(0)
    .describe("λ of the decoupled decay w ← w·(1 − η·λ); gains of norms and biases never decay."),
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
  clip_value: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe("Largest absolute value of an element of the gradient, after `clip_norm`; null: no clipping."),
} as const;

type Common = Omit<OptimizerChoice, "name" | "rule">;

export const choice = (
  name: string,
  { lr, weight_decay, warmup, clip_norm, clip_value }: Common,
  rule: UpdateRule,
): OptimizerChoice => ({ name, lr, weight_decay, warmup, clip_norm, clip_value, rule });
