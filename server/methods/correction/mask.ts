import { z } from "zod";
import { correction, param } from "../../core/declaration.ts";
import { Rule } from "../../core/rows/touched.ts";
import type { CorrectionInput } from "../../core/slots/correction.ts";
import { gather } from "../../core/rows/rejection.ts";
import {
  actsWhere,
  clampParam,
  columnOf,
  distributionParams,
  logRatios,
  modelsOf,
  normalise,
  normaliseParam,
  ratiosOf,
  unitParam,
  weightMetrics,
  type Distributions,
  type RatioUnit,
} from "./weights.ts";

/** Keeps both logarithms of a binary divergence finite. */
const edge = 1e-6;
const probability = (logp: number): number => Math.min(1 - edge, Math.max(edge, Math.exp(logp)));

/** Divergence between the coins "this token" and "another" under two distributions, from its log-probs. */
function divergence(kind: "binary_kl" | "tv", drawn: number, wanted: number): number {
  const [p, q] = [probability(drawn), probability(wanted)];
  if (kind === "tv") return Math.abs(p - q);
  return p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q));
}

interface Gate extends Distributions {
  readonly statistic: "ratio" | "binary_kl" | "tv";
  readonly level: RatioUnit;
  readonly clamp_log_ratio: number | null;
}

/** What is held against the bounds, per token. */
function statisticOf(input: CorrectionInput, logs: Float64Array, gate: Gate): Float64Array {
  const { statistic: kind, level, numerator, denominator } = gate;
  if (kind === "ratio") return ratiosOf(logs.slice(), input, level, gate.clamp_log_ratio);
  const [wanted, drawn] = [columnOf(input, numerator), columnOf(input, denominator)];
  const values = logs.map((_, i) => {
    const unknown = input.weights[i] === 0 || Number.isNaN(wanted[i]! + drawn[i]!);
    return unknown ? 0 : divergence(kind, drawn[i]!, wanted[i]!);
  });
  if (level !== "token") gather(values, input, "mean");
  return values;
}

export const mask = correction({
  name: "mask",
  aliases: ["icepop", "mis", "token_mask"],
  summary:
    "Masked importance sampling: tokens or responses outside the bounds get weight 0; the others are weighted by the ratio.",
  formula: "w = π_numerator / π_denominator where low ≤ statistic ≤ high, else 0",
  sources: [
    "Every Step Evolves: Scaling Reinforcement Learning for Trillion-Scale Thinking Model",
    "TRL 1.16",
    "verl 0.9.1",
    "OpenRLHF 0.11",
  ],
  params: z.object({
    ...distributionParams,
    level: unitParam,
    statistic: param(
      z.enum(["ratio", "binary_kl", "tv"]).default("ratio"),
      "What the bounds apply to: the unit's ratio, or the unit's mean divergence between the two probabilities of the sampled token (binary KL, total variation).",
    ),
    weight: param(
      z.enum(["statistic", "token"]).default("statistic"),
      "Whether the rest is weighted by the unit's ratio or by each token's own.",
    ),
    low: param(z.number().min(0).nullable().default(0.5), "Lower bound on the statistic; null: none."),
    high: param(z.number().positive().nullable().default(5), "Upper bound on the statistic; null: none."),
    clamp_log_ratio: clampParam,
    normalise: normaliseParam,
  }),
  actsOn: actsWhere,
  create: (params) => ({
    models: modelsOf(params),
    correct: (input) => {
      const logs = logRatios(input, params);
      const { level, statistic: kind, clamp_log_ratio: bound } = params;
      const statistic = statisticOf(input, logs, params);
      const own = params.weight === "token" || kind !== "ratio";
      const factors = own ? ratiosOf(logs, input, "token", bound) : statistic.slice();
      const low = params.low ?? Number.NEGATIVE_INFINITY;
      const high = params.high ?? Number.POSITIVE_INFINITY;
      const masked = new Rule("mask", factors.length);
      for (let i = 0; i < factors.length; i++) {
        if (input.weights[i] === 0 || (statistic[i]! >= low && statistic[i]! <= high)) continue;
        masked.act(i);
        factors[i] = 0;
      }
      const metrics = weightMetrics(factors, input, masked.count);
      if (params.normalise) normalise(factors, input, level);
      return { factors, metrics, touched: masked.touched };
    },
  }),
});
