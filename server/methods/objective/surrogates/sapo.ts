import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { ratioParams } from "./ratio.ts";
import { surrogate, type Method } from "./surrogate.ts";

function sapoOn(gains: number, losses: number): Method {
  return {
    by: "log_ratio",
    loss: ({ advantages, factors, weights, gradient, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0 || advantages[i] === 0) continue;
        const tau = advantages[i]! > 0 ? gains : losses;
        const rho = ratio[i]!;
        const open = 1 / (1 + Math.exp(-tau * (rho - 1)));
        const part = factors[i]! * advantages[i]! * 4;
        loss -= (part * open) / tau;
        // Far above 1 the gate is shut, however large the ratio.
        gradient[i] = open === 1 ? -0 : -part * open * (1 - open) * rho;
      }
      return loss;
    },
  };
}

const temperature = z.number().positive();

export const sapo = objective({
  name: "sapo",
  summary:
    "A smooth gate around ratio 1 instead of the clip, narrower for negative advantages than for positive ones.",
  formula: "ℓ = −A σ(τ (ρ − 1)) 4/τ, τ = tau_pos where A > 0, else tau_neg",
  sources: ["Soft Adaptive Policy Optimization"],
  params: z.object({
    tau_pos: param(temperature.default(1), "Steepness of the gate where the advantage is positive."),
    tau_neg: param(temperature.default(1.05), "Steepness of the gate where it is not."),
    ...ratioParams,
  }),
  create: (params) => surrogate(params, () => sapoOn(params.tau_pos, params.tau_neg)),
});
