import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { clamped, sigmoid, softplus } from "./numbers.ts";
import { returnsOf } from "./tokenRewards.ts";
import { gammaParam, headChannel, headParam } from "./valueParams.ts";

const params = z.object({ head: headParam("value"), gamma: gammaParam });

function loss(input: ObjectiveInput, { head, gamma }: z.output<typeof params>): Weighed {
  const { weights, factors } = input;
  const now = column(input.now, headChannel(head), "the value loss");
  const returns = returnsOf(input, gamma);
  const gradient = new Float64Array(weights.length);
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const target = clamped(returns[t]!, 0, 1);
    total += factors[t]! * (softplus(now[t]!) - target * now[t]!);
    gradient[t] = factors[t]! * (sigmoid(now[t]!) - target);
  }
  checkLoss(total, input, { [`the value of head ${head}`]: now, "the return": returns });
  return { loss: total, gradients: { [headChannel(head)]: gradient } };
}

export const valueCrossEntropy = objective({
  name: "value_cross_entropy",
  aliases: ["value_bce"],
  summary: "A value head is the logit of success, fitted by cross-entropy to returns between 0 and 1.",
  formula: "ℓ = BCE(σ(V), R), R kept within [0, 1]",
  sources: [
    "Improving Multi-Step Reasoning Abilities of Large Language Models with Direct Advantage Policy Optimization",
  ],
  params,
  create: (options): Objective => ({
    channels: [headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
