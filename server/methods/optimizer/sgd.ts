import { z } from "zod";
import { optimizer, param } from "../../core/declaration.ts";
import { take } from "../../core/ops.ts";
import { beta, choice, common, learningRate } from "./common.ts";
import { decayed, type UpdateRule } from "../../core/slots/optimizer.ts";

const params = z.strictObject({
  lr: learningRate(1e-2, "it depends on the gradient's scale, so it has to be tried."),
  momentum: param(beta.default(0), "μ of the velocity u ← μ·u + g; 0 keeps none."),
  nesterov: param(z.boolean().default(false), "Step along g + μ·u instead of u (Nesterov's look ahead)."),
  ...common,
});

const rule = ({ momentum, nesterov, weight_decay }: z.output<typeof params>): UpdateRule => ({
  key: momentum === 0 ? "sgd" : nesterov ? "sgd nesterov" : "sgd momentum",
  state: (extents) => (momentum === 0 ? {} : { u: extents }),
  scalars: (_, lr) => ({ rate: lr, keep: 1 - lr * weight_decay, momentum }),
  move(ops, { weight, gradient, state, scalars, decays }) {
    const kept = decayed(ops, weight, take(scalars, "keep"), decays);
    const rate = take(scalars, "rate");
    if (momentum === 0) return { weight: ops.sub(kept, ops.mul(gradient, rate)), state: {} };
    const mu = take(scalars, "momentum");
    const u = ops.add(ops.mul(take(state, "u"), mu), gradient);
    const step = nesterov ? ops.add(gradient, ops.mul(u, mu)) : u;
    return { weight: ops.sub(kept, ops.mul(step, rate)), state: { u } };
  },
});

export const sgd = optimizer({
  name: "sgd",
  summary: "Plain gradient descent, optionally with momentum: no optimiser state, or one value per weight.",
  formula: "u ← μ·u + g;  w ← w − η·(u + λ·w)",
  sources: ["On the importance of initialization and momentum in deep learning"],
  params,
  create: (given) => choice("sgd", given, rule(given)),
});
