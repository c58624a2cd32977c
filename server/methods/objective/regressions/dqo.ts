import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { anchorColumn, anchorModels } from "../rowLevel.ts";
import { tokenRewards } from "../values/tokenRewards.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "../values/valueParams.ts";

const params = z.object({
  beta: betaParam(0.03),
  anchor: anchorParam("reference"),
  head: headParam("value"),
  gamma: param(z.number().min(0).max(1).default(1), "Discount γ."),
  lambda: param(
    z.number().min(0).max(1).default(1),
    "λ of the soft returns: 0 trusts the next state's value, 1 the rewards.",
  ),
  value_weight: param(z.number().min(0).default(1), "Factor on the loss of the value head."),
});

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const { beta, anchor, head, gamma, lambda, value_weight: coefficient } = options;
  const { batch, weights, factors } = input;
  const logp = column(input.now, "logp", "dqo");
  const other = anchorColumn(input.old, anchor);
  const value = column(input.now, headChannel(head), "dqo");
  const rewards = tokenRewards(input);
  const byLogp = new Float64Array(weights.length);
  const byValue = new Float64Array(weights.length);
  let total = 0;
  for (let row = 0; row < batch.rows; row++) {
    let nextValue = 0;
    let nextReturn = 0;
    for (let t = batch.offsets[row + 1]! - 1; t >= batch.offsets[row]!; t--) {
      if (weights[t] === 0) continue;
      const target = rewards[t]! + gamma * ((1 - lambda) * nextValue + lambda * nextReturn);
      // Q(s, a) = V(s) + β log π/π_ref; both losses see the same residual, each with its own part held constant.
      const soft = target - beta * (logp[t]! - (other?.[t] ?? 0));
      const residual = value[t]! - soft;
      total += 0.5 * (1 + coefficient) * factors[t]! * residual * residual;
      byLogp[t] = beta * factors[t]! * residual;
      byValue[t] = coefficient * factors[t]! * residual;
      [nextValue, nextReturn] = [value[t]!, soft];
    }
  }
  checkLoss(total, input, {
    "the policy's log-prob": logp,
    [`the log-prob of ${anchor}`]: other,
    [`the value of head ${head}`]: value,
  });
  return { loss: total, gradients: { logp: byLogp, [headChannel(head)]: byValue } };
}

export const dqo = objective({
  name: "dqo",
  summary:
    "The policy is a soft Q: V plus β times its log-ratio is fitted to soft λ-returns, and so is V. Approximate: it leaves out the paper's clipped importance weights, because their constants are not published.",
  formula:
    "ℓ = ½(V(s) + β log π/π_ref − [r + γ Ḡ(s′)])² + ½(V(s) − G(s))², G(s) = r − β log π/π_ref + γ Ḡ(s′), Ḡ = (1−λ)V + λG",
  sources: [
    "Enhancing Multi-Step Reasoning Abilities of Language Models through Direct Q-Function Optimization",
  ],
  status: "approximate",
  params,
  actsOn: () => ["logged", "replayed"],
  create: (options): Objective => ({
    channels: ["logp", headChannel(options.head)],
    models: anchorModels(options.anchor),
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
