import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { ratioParams } from "./ratio.ts";
import { surrogate, type Method } from "./surrogate.ts";

function droOn(beta: number): Method {
  return {
    by: "logp",
    loss: ({ advantages, factors, weights, gradient, now, log }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0) continue;
        const x = log[i]!;
        loss -= factors[i]! * (advantages[i]! * now[i]! - 0.5 * beta * x * x);
        gradient[i] = factors[i]! * (beta * x - advantages[i]!);
      }
      return loss;
    },
  };
}

export const dro = objective({
  name: "dro",
  summary: "The policy gradient with a quadratic penalty on each token's log-ratio.",
  formula: "ℓ = −(A log π − β/2 (log π − log π_anchor)²)",
  sources: ["Offline Regularised Reinforcement Learning for Large Language Models Alignment", "verl 0.9.1"],
  params: z.object({
    beta: param(z.number().positive().default(0.1), "β; verl has no default."),
    anchor: ratioParams.anchor,
  }),
  create: ({ beta, anchor }) =>
    surrogate({ ratio: "token", anchor, clamp_log_ratio: null }, () => droOn(beta)),
});
