/** What every optimiser takes, and how a method becomes what the engine drives. */
import { z } from "zod";
import { param } from "../../core/declaration.ts";
import type { UpdateRule, OptimizerChoice } from "../../core/slots/optimizer.ts";

export const learningRate = (standard: number, advice: string): z.ZodDefault<z.ZodNumber> =>
  param(z.number().nonnegative().default(standard), `Learning rate η after the warm-up; ${advice}`);

export const beta = z.number().min(0).lt(1);

/** Keys that all optimisers share. */
export const common = {
  weight_decay: param(
    z.number().nonnegative().default(0),
    "λ of the decoupled decay w ← w·(1 − η·λ); gains of norms and biases never decay.",
  ),
  warmup: param(
    z.int().nonnegative().default(0),
    "Updates over which the learning rate grows linearly to `lr`.",
  ),
  clip_norm: param(
    z.number().positive().nullable().default(1),
    "Largest global norm of the gradient; null: no clipping.",
  ),
  clip_value: param(
    z.number().positive().nullable().default(null),
    "Largest absolute value of an element of the gradient, after `clip_norm`; null: no clipping.",
  ),
} as const;

type Common = Omit<OptimizerChoice, "name" | "rule">;

export const choice = (
  name: string,
  { lr, weight_decay, warmup, clip_norm, clip_value }: Common,
  rule: UpdateRule,
): OptimizerChoice => ({ name, lr, weight_decay, warmup, clip_norm, clip_value, rule });
