import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { nextTrained, tokenRewards } from "./tokenRewards.ts";
import { headChannel, headParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  alpha: z
    .number()
    .positive()
    .default(1)
    .describe("Q is α times the logits: the policy that writes is softmax(Q/α), greedier the smaller α is."),
  gamma: z.number().min(0).max(1).default(0.99).describe("Discount γ."),
  tau: z.number().gt(0).lt(1).default(0.7).describe("Expectile τ of the state's value over its actions."),
  cql: z
    .number()
    .min(0)
    .default(0.01)
    .describe("Factor on the cross-entropy of Q as logits: keeps actions that the data lacks low."),
});

function loss(input: ObjectiveInput, { head, alpha, gamma, tau, cql }: z.output<typeof params>): Weighed {
  const { weights, factors } = input;
  const logp = column(input.now, "logp", "ilql");
  const normaliser = column(input.now, "logsumexp", "ilql");
  const value = column(input.now, headChannel(head), "ilql");
  const [rewards, next] = [tokenRewards(input), nextTrained(input)];
  const byLogp = new Float64Array(weights.length);
  const byNormaliser = new Float64Array(weights.length);
  const byValue = new Float64Array(weights.length);
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const q = alpha * (logp[t]! + normaliser[t]!);
    const after = next[t]! < 0 ? 0 : value[next[t]!]!;
    const error = q - (rewards[t]! + gamma * after);
    const gap = q - value[t]!;
    const expectile = gap < 0 ? 1 - tau : tau;
    total += factors[t]! * (0.5 * error * error + 0.5 * expectile * gap * gap - cql * logp[t]!);
    byLogp[t] = factors[t]! * (alpha * error - cql);
    byNormaliser[t] = factors[t]! * alpha * error;
    byValue[t] = -factors[t]! * expectile * gap;
  }
  checkLoss(total, input, {
    "the policy's log-prob": logp,
    logsumexp: normaliser,
    [`the value of head ${head}`]: value,
  });
  return { loss: total, gradients: { logp: byLogp, logsumexp: byNormaliser, [headChannel(head)]: byValue } };
}

export const ilql = objective({
  name: "ilql",
  summary:
    "Implicit Q-learning on logged data: the logits are Q, a head is V. Approximate: one Q whose present values are the targets, where the paper has two with slow copies beside a separate policy.",
  formula:
    "ℓ = ½(Q − [r + γ V(s′)])² + ½ |τ − 1[Q < V]| (Q − V)² − cql · log softmax(Q)_a, Q = α (log π + log Σ exp)",
  sources: [
    "Offline RL for Natural Language Generation with Implicit Language Q Learning",
    "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
  ],
  status: "approximate",
  params,
  create: (options): Objective => ({
    channels: ["logp", "logsumexp", headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
