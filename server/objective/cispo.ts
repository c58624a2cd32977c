import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { ObjectiveInput } from "../seams.ts";
import { column } from "./column.ts";
import { ratioParams } from "./ratio.ts";
import { clipMetrics, Rule, surrogate, type Method } from "./surrogate.ts";

function cispoOn(input: ObjectiveInput, low: number | null, high: number | null): Method {
  const { advantages, factors, weights } = input;
  const now = column(input.now, "logp", "the objective");
  const [below, above] = [new Rule("clip_low", now.length), new Rule("clip_high", now.length)];
  const least = low === null ? 0 : 1 - low;
  const most = high === null ? Number.POSITIVE_INFINITY : 1 + high;
  return {
    by: "logp",
    rules: [below, above],
    metrics: (trained) => clipMetrics(below, above, trained),
    block: ({ from, to, ratio }, slope) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0) continue;
        let weight = ratio[i - from]!;
        if (weight > most) {
          weight = most;
          above.act(i);
        } else if (weight < least) {
          weight = least;
          below.act(i);
        }
        if (advantages[i] === 0) continue;
        slope[i] = -factors[i]! * advantages[i]! * weight;
        loss += slope[i]! * now[i]!;
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
  ],
  params: z.object({
    low: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .default(null)
      .describe("How far the weight may fall below 1; null: no lower bound (MiniMax, TRL); verl has one."),
    high: z
      .number()
      .gt(-1)
      .nullable()
      .default(4)
      .describe(
        "How far the weight may rise above 1; null: no bound. TRL's `epsilon_high` is the cap itself, that is 1 + high; AIPO's ρ likewise.",
      ),
    ...ratioParams,
  }),
  create: (params) => surrogate(params, (input) => cispoOn(input, params.low, params.high)),
});
