import { z } from "zod";
import { optimizer, param } from "../../core/declaration.ts";
import { take } from "../../core/ops.ts";
import { beta, choice, common, learningRate } from "./common.ts";
import { decayed, towards, type UpdateRule } from "../../core/slots/optimizer.ts";

const params = z.strictObject({
  lr: learningRate(1e-5, "three to ten times below AdamW's, because every element moves by the full rate."),
  betas: param(
    z.tuple([beta, beta]).default([0.9, 0.99]),
    "β₁ mixes the gradient into the step's direction, β₂ into the running mean.",
  ),
  ...common,
});

const rule = ({ betas, weight_decay }: z.output<typeof params>): UpdateRule => ({
  key: "lion",
  state: (extents) => ({ m: extents }),
  scalars: (_, lr) => ({ rate: lr, keep: 1 - lr * weight_decay, beta1: betas[0], beta2: betas[1] }),
  move(ops, { weight, gradient, state, scalars, decays }) {
    const m = take(state, "m");
    const direction = ops.sign(towards(ops, m, gradient, take(scalars, "beta1")));
    return {
      weight: ops.sub(
        decayed(ops, weight, take(scalars, "keep"), decays),
        ops.mul(direction, take(scalars, "rate")),
      ),
      state: { m: towards(ops, m, gradient, take(scalars, "beta2")) },
    };
  },
});

export const lion = optimizer({
  name: "lion",
  summary: "Moves every element by the sign of a running mean of its gradient: half of AdamW's memory.",
  formula: "w ← w − η·(sign(β₁·m + (1 − β₁)·g) + λ·w);  m ← β₂·m + (1 − β₂)·g",
  sources: ["Symbolic Discovery of Optimization Algorithms"],
  params,
  create: (given) => choice("lion", given, rule(given)),
});
