import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { returnsOf } from "./tokenRewards.ts";
import { gammaParam, headChannel, headParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  tau: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.7)
    .describe("Expectile τ: above ½, what good continuations bring counts more."),
  gamma: gammaParam,
});

function loss(input: ObjectiveInput, { head, tau, gamma }: z.output<typeof params>): Weighed {
  const { weights, factors } = input;
  const now = column(input.now, headChannel(head), "the value loss");
  const returns = returnsOf(input, gamma);
  const gradient = new Float64Array(weights.length);
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const gap = returns[t]! - now[t]!;
    const weight = factors[t]! * (gap >= 0 ? tau : 1 - tau);
    total += 0.5 * weight * gap * gap;
    gradient[t] = -weight * gap;
  }
  checkLoss(total, input, { [`the value of head ${head}`]: now, "the return": returns });
  return { loss: total, gradients: { [headChannel(head)]: gradient } };
}

export const valueExpectile = objective({
  name: "value_expectile",
  summary: "A value head is regressed on an upper expectile of returns: what the better continuations bring.",
  formula: "ℓ = ½ |τ − 1[R < V]| (R − V)²",
  sources: ["Offline Reinforcement Learning with Implicit Q-Learning"],
  params,
  create: (options): Objective => ({
    channels: [headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
