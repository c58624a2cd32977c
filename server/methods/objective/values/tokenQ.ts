import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Channel, Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { nextTrained, tokenRewards } from "./tokenRewards.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  alpha: param(z.number().positive().default(0.1), "Factor α from logits to advantages."),
  gamma: param(z.number().min(0).max(1).default(0.999), "Discount γ."),
  backup: param(
    refers({ to: "model", also: ["reference"] })
      .min(1)
      .default("reference"),
    "The model whose likeliest token the backup takes in the next state: a checkpoint that does not train.",
  ),
  values_only: param(z.boolean().default(false), "The first stage, in which only V trains."),
});
type Params = z.output<typeof params>;

const greedyOf = (model: string): Channel => `greedy:${model}`;

function loss(input: ObjectiveInput, options: Params): Weighed {
  const { head, alpha, gamma, backup, values_only } = options;
  const { weights, factors } = input;
  const logp = column(input.now, "logp", "token_q");
  const best = column(input.now, "greedy", "token_q");
  const backed = column(input.now, greedyOf(backup), "token_q");
  const value = column(input.now, headChannel(head), "token_q");
  const [rewards, next] = [tokenRewards(input), nextTrained(input)];
  const byLogp = new Float64Array(weights.length);
  const byBest = new Float64Array(weights.length);
  const byValue = new Float64Array(weights.length);
  /** Of a log-prob at a token: logits differ from log-probs by what max takes away again. */
  const q = (words: Float64Array, t: number): number => alpha * (words[t]! - best[t]!) + value[t]!;
  let total = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    const after = next[t]! < 0 ? 0 : q(backed, next[t]!);
    const error = q(logp, t) - (rewards[t]! + gamma * after);
    total += 0.5 * factors[t]! * error * error;
    byValue[t] = factors[t]! * error;
    if (values_only) continue;
    byLogp[t] = factors[t]! * alpha * error;
    byBest[t] = -factors[t]! * alpha * error;
  }
  checkLoss(total, input, {
    "the policy's log-prob": logp,
    "the log-prob of the likeliest token": best,
    [`the log-prob of ${backup}'s likeliest token`]: backed,
    [`the value of head ${head}`]: value,
  });
  return { loss: total, gradients: { logp: byLogp, greedy: byBest, [headChannel(head)]: byValue } };
}

export const tokenQ = objective({
  name: "token_q",
  aliases: ["b_coder"],
  summary:
    "Conservative temporal differences on a Q made of logits: a logit's gap to the largest is the advantage, and the next state's value is that of the token that a fixed checkpoint finds likeliest. The paper's other loss, on reference programs, is `auxiliary: [{ use: sft, gap: … }]`.",
  formula: "ℓ = ½(Q(s,a) − [r + γ sg Q(s′, argmax p_backup(·∣s′))])², Q(s,a) = α[ℓ(s,a) − max ℓ(s,·)] + V(s)",
  sources: ["B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis"],
  params,
  create: (options): Objective => ({
    channels: ["logp", "greedy", greedyOf(options.backup), headChannel(options.head)],
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
