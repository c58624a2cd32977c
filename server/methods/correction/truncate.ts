import { z } from "zod";
import { correction, param } from "../../core/declaration.ts";
import { Rule } from "../../core/rows/touched.ts";
import {
  actsWhere,
  clampParam,
  distributionParams,
  logRatios,
  modelsOf,
  normalise,
  normaliseParam,
  ratiosOf,
  unitParam,
  weightMetrics,
} from "./weights.ts";

export const truncate = correction({
  name: "truncate",
  aliases: ["tis", "token_truncate"],
  summary:
    "Truncated importance sampling: weights tokens by the ratio of two distributions, clamped between bounds.",
  formula: "w = clamp(π_numerator / π_denominator, low, high)",
  sources: [
    "Your Efficient RL Framework Secretly Brings You Off-Policy RL Training",
    "AReaL: A Large-Scale Asynchronous Reinforcement Learning System for Language Reasoning",
    "TRL 1.16",
    "verl 0.9.1",
    "OpenRLHF 0.11",
  ],
  params: z.object({
    ...distributionParams,
    level: unitParam,
    low: param(z.number().min(0).nullable().default(null), "Lower bound on the weight; null: none."),
    high: param(z.number().positive().nullable().default(2), "Upper bound on the weight; null: none."),
    clamp_log_ratio: clampParam,
    normalise: normaliseParam,
  }),
  actsOn: actsWhere,
  create: (params) => ({
    models: modelsOf(params),
    correct: (input) => {
      const factors = ratiosOf(logRatios(input, params), input, params.level, params.clamp_log_ratio);
      const low = params.low ?? 0;
      const high = params.high ?? Number.POSITIVE_INFINITY;
      const truncated = new Rule("truncate", factors.length);
      for (let i = 0; i < factors.length; i++) {
        if (input.weights[i] === 0 || (factors[i]! >= low && factors[i]! <= high)) continue;
        truncated.act(i);
        factors[i] = Math.min(high, Math.max(low, factors[i]!));
      }
      const metrics = weightMetrics(factors, input, truncated.count);
      if (params.normalise) normalise(factors, input, params.level);
      return { factors, metrics, touched: truncated.touched };
    },
  }),
});
