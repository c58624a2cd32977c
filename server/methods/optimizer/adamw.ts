import { z } from "zod";
import { optimizer, param } from "../../core/declaration.ts";
import { take } from "../../core/ops.ts";
import { beta, choice, common, learningRate } from "./common.ts";
import { decayed, towards, type UpdateRule, type OptimizerChoice } from "../../core/slots/optimizer.ts";

const params = z.strictObject({
  lr: learningRate(5e-5, "1e-6 to 1e-4 for reinforcement learning, more for warm-up stages."),
  betas: param(
    z.tuple([beta, beta]).default([0.9, 0.999]),
    "Decay of the running means of the gradient and of its square.",
  ),
  epsilon: param(z.number().positive().default(1e-8), "ε, added to the root of the second moment."),
  ...common,
});

const rule = ({ betas, epsilon, weight_decay }: z.output<typeof params>): UpdateRule => ({
  key: "adamw",
  state: (extents) => ({ m: extents, v: extents }),
  scalars(update, lr) {
    const root = Math.sqrt(1 - betas[1] ** update);
    return {
      // η·m̂ / (√v̂ + ε) with both bias corrections moved out of the element-wise part.
      rate: (lr * root) / (1 - betas[0] ** update),
      epsilon: epsilon * root,
      keep: 1 - lr * weight_decay,
      beta1: betas[0],
      beta2: betas[1],
    };
  },
  move(ops, { weight, gradient, state, scalars, decays }) {
    const m = towards(ops, take(state, "m"), gradient, take(scalars, "beta1"));
    const v = towards(ops, take(state, "v"), ops.square(gradient), take(scalars, "beta2"));
    const step = ops.div(ops.mul(m, take(scalars, "rate")), ops.add(ops.sqrt(v), take(scalars, "epsilon")));
    return { weight: ops.sub(decayed(ops, weight, take(scalars, "keep"), decays), step), state: { m, v } };
  },
});

/** AdamW with what is given, defaults for the rest: where no config chooses. */
export const adamwChoice = (given: z.input<typeof params> = {}): OptimizerChoice => made(params.parse(given));

const made = (given: z.output<typeof params>): OptimizerChoice => choice("adamw", given, rule(given));

export const adamw = optimizer({
  name: "adamw",
  aliases: ["adam"],
  summary:
    "Adam with decoupled weight decay, linear warm-up and clipping of the gradient by its global norm.",
  formula: "w ← w − η·(m̂ / (√v̂ + ε) + λ·w)",
  sources: ["Decoupled Weight Decay Regularization", "Adam: A Method for Stochastic Optimization"],
  params,
  create: made,
});
