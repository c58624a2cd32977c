import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Channel, Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { rowAdvantages } from "../rowLevel.ts";

const params = z.object({
  scale: param(
    z.number().positive().default(1),
    "Factor on the advantage: the higher, the more the learned policy prefers what scores high.",
  ),
  target: param(
    refers({ to: "model", also: ["reference", "proximal"] })
      .min(1)
      .default("proximal"),
    "The model whose values are the targets: `proximal` (the policy as the step found it), `reference`, or a slow copy in `models`.",
  ),
});

function loss(input: ObjectiveInput, { target, scale }: z.output<typeof params>): Weighed {
  const { batch, weights, factors } = input;
  const channel: Channel = `logsumexp:${target}`;
  const logp = column(input.now, "logp", "soft_q");
  const values = column(input.old, channel, "soft_q");
  const rewards = rowAdvantages(input).map((advantage) => scale * advantage);
  const gradient = new Float64Array(weights.length);
  const ofPath = new Float64Array(weights.length);
  let total = 0;
  for (let row = 0; row < batch.rows; row++) {
    const [start, end] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    let next = rewards[row]!;
    let path = 0;
    for (let t = end - 1; t >= start; t--) {
      if (weights[t] === 0) continue;
      path += logp[t]!;
      const one = logp[t]! - (next - values[t]!);
      const rest = path - (rewards[row]! - values[t]!);
      total += 0.5 * factors[t]! * (one * one + rest * rest);
      gradient[t] = factors[t]! * one;
      ofPath[t] = factors[t]! * rest;
      next = values[t]!;
    }
    // A token is on the paths that begin at it or before it.
    let paths = 0;
    for (let t = start; t < end; t++) {
      if (weights[t] === 0) continue;
      paths += ofPath[t]!;
      gradient[t]! += paths;
    }
  }
  checkLoss(total, input, {
    "the policy's log-prob": logp,
    [`the log-sum-exp of the logits of ${target}`]: values,
    "the advantage": input.advantages,
  });
  return { loss: total, gradients: { logp: gradient } };
}

export const softQ = objective({
  name: "soft_q",
  summary:
    "Soft Q-learning, the logits being Q: log π is fitted to what a slow copy's values change by, token by token and from each token to the end, where the value is the reward.",
  formula:
    "ℓ = ½ (log π(a_t) − V̄_{t+1} + V̄_t)² + ½ (Σ_{i≥t} log π(a_i) − c·A + V̄_t)², V̄ = log Σ_a exp(logit of the target), after the last token c·A",
  sources: ["RLPrompt: Optimizing Discrete Text Prompts with Reinforcement Learning"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    needs: { normalizers: [options.target] },
    unit: "sequence",
    loss: (input) => loss(input, options),
  }),
});
