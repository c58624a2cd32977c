/** What the two forms of DPPO share: a truncated weight without gradient, and a divergence that shuts tokens out. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { ratioParams } from "./ratio.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { clipMetrics, type Method } from "./surrogate.ts";

export const dppoParams = {
  low: param(z.number().min(0).default(0.2), "Largest divergence of a token that should become less likely."),
  high: param(z.number().min(0).default(0.2), "Largest divergence of a token that should become likelier."),
  cap: param(
    z.number().positive().nullable().default(20),
    "Largest weight; null: none. verl's `clip_ratio_c`, whose default is 3.",
  ),
  ...ratioParams,
};
type Dppo = z.output<z.ZodObject<typeof dppoParams>>;

/** Whether a token may still move: which way it would, its probability and that under the anchor. */
export type Open = (
  gains: boolean,
  probability: number,
  then: number,
  logp: number,
  logpThen: number,
) => boolean;

export function dppoOn(size: number, options: Dppo, open: Open): Method {
  const [low, high] = [new Rule("trust_low", size), new Rule("trust_high", size)];
  const cap = options.cap ?? Number.POSITIVE_INFINITY;
  return {
    by: "logp",
    rules: [low, high],
    metrics: (trained) => clipMetrics(low, high, trained),
    loss: ({ place, advantages, factors, weights, gradient, now, anchor, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0) continue;
        const gains = advantages[i]! > 0;
        if (!open(gains, Math.exp(now[i]!), Math.exp(anchor[i]!), now[i]!, anchor[i]!)) {
          (gains ? high : low).act(place + i);
          continue;
        }
        if (advantages[i] === 0) continue;
        gradient[i] = -factors[i]! * advantages[i]! * Math.min(ratio[i]!, cap);
        loss += gradient[i]! * now[i]!;
      }
      return loss;
    },
  };
}
