import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { covarianceOf, shareOf } from "./covariance.ts";
import { ratioParams } from "./ratio.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { clipMetrics, surrogateOfWhole, type WholeMethod } from "./surrogate.ts";

const params = z.object({
  low: param(z.number().min(0).max(1).default(0.2), "How far the ratio may fall below 1."),
  high: param(z.number().min(0).default(0.2), "How far the ratio may rise above 1."),
  share: param(
    z.number().positive().max(1).default(0.0002),
    "Share of the trained tokens that are left out, at least one.",
  ),
  least: param(z.number().default(1), "Covariance above which a token may be left out."),
  most: param(z.number().default(5), "Covariance below which a token may be left out."),
  ...ratioParams,
});
type ClipCov = z.output<typeof params>;

function clipCovOn(input: ObjectiveInput, options: ClipCov, random: Random): WholeMethod {
  const covariance = covarianceOf(input);
  const size = input.weights.length;
  const rules = [
    new Rule("clip_low", size),
    new Rule("clip_high", size),
    new Rule("covariance", size),
  ] as const;
  const [low, high, chosen] = rules;
  const candidates: number[] = [];
  return {
    by: "log_ratio",
    rules,
    metrics: (trained) => ({
      ...clipMetrics(low, high, trained),
      "update/covariance_fraction": chosen.count / trained,
    }),
    loss: ({ place, advantages, factors, weights, gradient, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (weights[i] === 0) continue;
        const [rho, advantage] = [ratio[i]!, advantages[i]!];
        const acting =
          advantage > 0 && rho > 1 + options.high
            ? high
            : advantage < 0 && rho < 1 - options.low
              ? low
              : undefined;
        const used = acting === undefined ? rho : acting === high ? 1 + options.high : 1 - options.low;
        acting?.act(place + i);
        const part = advantage === 0 ? 0 : factors[i]! * advantage * used;
        loss -= part;
        if (acting !== undefined) continue;
        gradient[i] = -part;
        const own = covariance.at(place + i);
        if (own > options.least && own < options.most) candidates.push(place + i);
      }
      return loss;
    },
    // Some of the tokens within the band leave the loss. Unclipped, a token's loss is its derivative by the log-ratio.
    finish: (slope) => {
      let loss = 0;
      const count = Math.min(candidates.length, shareOf(options.share, covariance.trained));
      for (let k = 0; k < count; k++) {
        const j = k + random.integer(candidates.length - k);
        [candidates[k], candidates[j]] = [candidates[j]!, candidates[k]!];
        const token = candidates[k]!;
        chosen.act(token);
        loss -= slope[token]!;
        slope[token] = 0;
      }
      return loss;
    },
  };
}

export const clipCov = objective({
  name: "clip_cov",
  summary:
    "The clipped surrogate, with a few tokens of large covariance between advantage and log-prob left out.",
  formula:
    "ℓ = −min(ρ A, clip(ρ) A), but 0 for share · N tokens drawn from those with least < (A − Ā)(log π − mean log π) < most that are not clipped",
  sources: ["The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models"],
  params,
  create: (params, { random }) =>
    surrogateOfWhole(params, (input) =>
      clipCovOn(input, params, random.fork("clip_cov", input.clock?.step ?? 0, input.version ?? 0)),
    ),
});
