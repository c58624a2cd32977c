import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { valueLoss, type ValueMethod } from "./valueLoss.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { gammaParam, statesParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  tau: param(z.number().gt(0).lt(1).default(0.7), "Expectile τ: above ½, good continuations count more."),
  gamma: gammaParam,
  level: statesParam,
});

function expectile(tau: number): ValueMethod {
  return {
    loss({ weights, factors, now, returns, gradient }, from, to) {
      let total = 0;
      for (let t = from; t < to; t++) {
        if (weights[t] === 0) continue;
        const gap = returns[t]! - now[t]!;
        const weight = factors[t]! * (gap >= 0 ? tau : 1 - tau);
        total += 0.5 * weight * gap * gap;
        gradient[t] = -weight * gap;
      }
      return total;
    },
  };
}

export const valueExpectile = objective({
  name: "value_expectile",
  summary: "Regresses a value head on an upper expectile of returns: the value of the better continuations.",
  formula: "ℓ = ½ |τ − 1[R < V]| (R − V)²",
  sources: ["Offline Reinforcement Learning with Implicit Q-Learning"],
  params,
  create: ({ tau, ...options }) => valueLoss(options, () => expectile(tau)),
});
