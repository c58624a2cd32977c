import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { HeadOf, Objective, ObjectiveInput } from "../../../core/loss.ts";
import { headLogpChannel } from "../../../core/channelNames.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { otherHead } from "./otherHeads.ts";
import { nextTrained, tokenRewards } from "./tokenRewards.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "./valueParams.ts";

const params = z.object({
  q: param(
    z
      .array(refers({ to: "head" }).min(1))
      .min(1)
      .default(["q1", "q2"]),
    "Heads of Q(s, a), with a value for every vocabulary entry (`words: true`); V is fitted to the smallest of them.",
  ),
  head: headParam("value"),
  target: param(
    refers({ to: "model", also: ["now"] })
      .min(1)
      .default("now"),
    "Whose Q is V's target: a slow copy's (`polyak`) in `models`, as in the sources, or the current model's (`now`).",
  ),
  gamma: param(z.number().min(0).max(1).default(0.99), "Discount γ."),
  tau: param(z.number().gt(0).lt(1).default(0.7), "Expectile τ: V is this expectile of Q."),
  cql: param(
    z.number().min(0).default(0.01),
    "Factor on the cross-entropy of each Q as logits, which keeps the Q of actions outside the data low.",
  ),
});
type Params = z.output<typeof params>;

const targets = ({ q, target }: Params): HeadOf[] =>
  target === "now" ? [] : q.map((head) => ({ head, model: target }));

function loss(input: ObjectiveInput, options: Params): Weighed {
  const { head, gamma, tau, cql } = options;
  const { weights, factors } = input;
  const read = (stats: ObjectiveInput["now"], names: readonly string[], name: typeof headChannel) =>
    names.map((one) => column(stats, name(one), "ilql"));
  const qs = read(input.now, options.q, headChannel);
  const slow = targets(options).map((of) => column(input.old, otherHead(of), "ilql"));
  const logps = cql === 0 ? [] : read(input.now, options.q, headLogpChannel);
  const value = column(input.now, headChannel(head), "ilql");
  const [rewards, next] = [tokenRewards(input), nextTrained(input)];
  const made = (): Float64Array => new Float64Array(weights.length);
  const [byQ, byLogp, byValue] = [qs.map(made), logps.map(made), made()];
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const goal = rewards[t]! + (next[t]! < 0 ? 0 : gamma * value[next[t]!]!);
    const least = (slow.length > 0 ? slow : qs).reduce((low, q) => Math.min(low, q[t]!), Infinity);
    const gap = least - value[t]!;
    const expectile = gap < 0 ? 1 - tau : tau;
    total += factors[t]! * 0.5 * expectile * gap * gap;
    byValue[t] = -factors[t]! * expectile * gap;
    qs.forEach((q, i) => {
      const error = q[t]! - goal;
      total += factors[t]! * 0.5 * error * error;
      byQ[i]![t] = factors[t]! * error;
    });
    logps.forEach((logp, i) => {
      total -= factors[t]! * cql * logp[t]!;
      byLogp[i]![t] = -factors[t]! * cql;
    });
  }
  const named = <Value>(columns: readonly Value[], name: (head: string) => string): Record<string, Value> =>
    Object.fromEntries(columns.map((one, i) => [name(options.q[i]!), one]));
  checkLoss(total, input, {
    ...named(qs, (q) => `the value of head ${q}`),
    ...named(slow, (q) => `the value of head ${q} of ${options.target}`),
    ...named(logps, (q) => `the log-prob of head ${q}`),
    [`the value of head ${head}`]: value,
  });
  return {
    loss: total,
    gradients: {
      ...named(byQ, headChannel),
      ...named(byLogp, headLogpChannel),
      [headChannel(head)]: byValue,
    },
  };
}

export const ilql = objective({
  name: "ilql",
  summary:
    "Implicit Q-learning on recorded data: heads of Q follow rewards and V, and V follows an upper expectile of the smallest slow Q, so the value of an action outside the data is never needed. `rollout.perturb` generates with what they learned.",
  formula:
    "ℓ = Σ_i ½(Q_i(s,a) − [r + γ V(s′)])² + ½ |τ − 1[Q̂ < V]| (Q̂ − V)² − cql · Σ_i log softmax(Q_i(s,·))_a, Q̂ = min_i Q_i of the slow copy; targets held constant",
  sources: [
    "Offline RL for Natural Language Generation with Implicit Language Q Learning",
    "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
  ],
  params,
  actsOn: () => ["logged", "replayed"],
  create: (options): Objective => ({
    channels: [
      ...options.q.map(headChannel),
      ...(options.cql === 0 ? [] : options.q.map(headLogpChannel)),
      headChannel(options.head),
    ],
    needs: { heads: targets(options) },
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
