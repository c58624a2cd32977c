import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { ratioParams } from "./ratio.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { clipMetrics, surrogate, type Method } from "./surrogate.ts";

const params = z.object({
  low: param(
    z.number().min(0).max(1).nullable().default(null),
    "How far the weight may fall below 1; null: no lower bound (MiniMax, TRL); verl has one.",
  ),
  high: param(
    z.number().gt(-1).nullable().default(4),
    "How far the weight may rise above 1; null: no bound. TRL's `epsilon_high` is the cap itself, that is 1 + high; AIPO's ρ likewise.",
  ),
  one_sided: param(
    z.boolean().default(false),
    "Bound the weight as PPO's minimum does: from above where the advantage is positive, from below where it is negative.",
  ),
  ...ratioParams,
});
type Cispo = z.output<typeof params>;

function cispoOn(size: number, { low, high, one_sided }: Cispo): Method {
  const [below, above] = [new Rule("clip_low", size), new Rule("clip_high", size)];
  const least = low === null ? 0 : 1 - low;
  const most = high === null ? Number.POSITIVE_INFINITY : 1 + high;
  return {
    by: "logp",
    rules: [below, above],
    metrics: (trained) => clipMetrics(below, above, trained),
    loss: ({ place, advantages, factors, weights, gradient, now, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0) continue;
        let weight = ratio[i]!;
        if (weight > most && (!one_sided || advantages[i]! > 0)) {
          weight = most;
          above.act(place + i);
        } else if (weight < least && (!one_sided || advantages[i]! < 0)) {
          weight = least;
          below.act(place + i);
        }
        if (advantages[i] === 0) continue;
        gradient[i] = -factors[i]! * advantages[i]! * weight;
        loss += gradient[i]! * now[i]!;
      }
      return loss;
    },
  };
}

export const cispo = objective({
  name: "cispo",
  aliases: ["aipo"],
  summary:
    "The policy gradient weighted by a clipped ratio through which no gradient flows: no token is dropped.",
  formula: "ℓ = −sg(clip(ρ, 1 − low, 1 + high)) A log π",
  sources: [
    "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention",
    "LlamaRL: A Distributed Asynchronous Reinforcement Learning Framework for Efficient Large-scale LLM Training",
    "Improving Language Models with Advantage-based Offline Policy Gradients",
    "Improving Large Language Models via Fine-grained Reinforcement Learning with Minimum Editing Constraint",
  ],
  params,
  create: (params) => surrogate(params, (size) => cispoOn(size, params)),
});
