import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import { clamped, sigmoid, softplus } from "../numbers.ts";
import { valueLoss, type ValueMethod } from "./valueLoss.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { gammaParam, statesParam } from "./valueParams.ts";

const params = z.object({ head: headParam("value"), gamma: gammaParam, level: statesParam });

const crossEntropy: ValueMethod = {
  loss({ weights, factors, now, returns, gradient }, from, to) {
    let total = 0;
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue;
      const target = clamped(returns[t]!, 0, 1);
      total += factors[t]! * (softplus(now[t]!) - target * now[t]!);
      gradient[t] = factors[t]! * (sigmoid(now[t]!) - target);
    }
    return total;
  },
};

export const valueCrossEntropy = objective({
  name: "value_cross_entropy",
  aliases: ["value_bce"],
  summary: "Fits a value head, as the logit of success, by cross-entropy to returns between 0 and 1.",
  formula: "ℓ = BCE(σ(V), R), R kept within [0, 1]",
  sources: [
    "Improving Multi-Step Reasoning Abilities of Large Language Models with Direct Advantage Policy Optimization",
  ],
  params,
  create: (options) => valueLoss(options, () => crossEntropy),
});
