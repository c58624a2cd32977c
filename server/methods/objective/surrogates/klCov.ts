import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { covarianceOf, largest, shareOf } from "./covariance.ts";
import { ratioParams } from "./ratio.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { surrogateOfWhole, type WholeMethod } from "./surrogate.ts";

function klCovOn(input: ObjectiveInput, share: number, coefficient: number): WholeMethod {
  const { weights } = input;
  const covariance = covarianceOf(input);
  const penalised = new Rule("covariance", weights.length);
  const marked = new Uint8Array(weights.length);
  for (const token of largest(shareOf(share, covariance.trained), weights, covariance.at)) {
    marked[token] = 1;
    penalised.act(token);
  }
  return {
    by: "log_ratio",
    rules: [penalised],
    metrics: (trained) => ({ "update/covariance_fraction": penalised.count / trained }),
    loss: ({ place, advantages, factors, weights: own, gradient, log, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        if (own[i] === 0) continue;
        const gain = advantages[i] === 0 ? 0 : advantages[i]! * ratio[i]!;
        const penalty = marked[place + i] === 1 ? coefficient : 0;
        loss += factors[i]! * (penalty * Math.abs(log[i]!) - gain);
        gradient[i] = factors[i]! * (penalty * Math.sign(log[i]!) - gain);
      }
      return loss;
    },
  };
}

export const klCov = objective({
  name: "kl_cov",
  summary:
    "The unclipped surrogate, with a penalty on the log-ratio of the tokens of largest covariance between advantage and log-prob.",
  formula:
    "ℓ = −ρ A, + coefficient · |log ρ| on the share · N tokens with the largest (A − Ā)(log π − mean log π)",
  sources: ["The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models"],
  params: z.object({
    share: param(
      z.number().positive().max(1).default(0.0002),
      "Share of the trained tokens that are penalised, at least one.",
    ),
    coefficient: param(z.number().min(0).default(1), "Factor on the penalty."),
    ...ratioParams,
  }),
  create: (params) => surrogateOfWhole(params, (input) => klCovOn(input, params.share, params.coefficient)),
});
