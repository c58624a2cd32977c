import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { nextTrained, tokenRewards } from "./tokenRewards.ts";
import { headChannel, headParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  alpha: z.number().positive().default(0.1).describe("Factor α from log-probs to advantages."),
  gamma: z.number().min(0).max(1).default(0.999).describe("Discount γ."),
  conservative: z
    .number()
    .min(0)
    .default(0.01)
    .describe(
      "Factor on the negative log-likelihood of the data, which is |A| of its actions over α as well.",
    ),
  values_only: z.boolean().default(false).describe("The first stage: only V learns."),
});

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const { head, alpha, gamma, conservative, values_only } = options;
  const { weights, factors } = input;
  const logp = column(input.now, "logp", "token_q");
  const value = column(input.now, headChannel(head), "token_q");
  const [rewards, next] = [tokenRewards(input), nextTrained(input)];
  const byLogp = new Float64Array(weights.length);
  const byValue = new Float64Array(weights.length);
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const after = next[t]! < 0 ? 0 : value[next[t]!]!;
    const error = alpha * logp[t]! + value[t]! - (rewards[t]! + gamma * after);
    total += factors[t]! * (0.5 * error * error - (values_only ? 0 : conservative * logp[t]!));
    byValue[t] = factors[t]! * error;
    if (!values_only) byLogp[t] = factors[t]! * (alpha * error - conservative);
  }
  checkLoss(total, input, { "the policy's log-prob": logp, [`the value of head ${head}`]: value });
  return { loss: total, gradients: { logp: byLogp, [headChannel(head)]: byValue } };
}

export const tokenQ = objective({
  name: "token_q",
  aliases: ["b_coder"],
  summary:
    "Conservative temporal differences on a Q made of logits: a state's value plus α times the log-prob. Approximate: the log of the sum of exponentials stands where the paper takes the largest logit.",
  formula: "ℓ = ½(Q − [r + γ sg V(s′)])² − c log π, Q = V(s) + α log π(a∣s)",
  sources: ["B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis"],
  status: "approximate",
  params,
  create: (options): Objective => ({
    channels: ["logp", headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
