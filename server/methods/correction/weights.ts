/** What corrections share: log-ratios between two of the distributions that a token has a probability under. */
import { gather } from "../../core/rows/rejection.ts";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { param, type Matter } from "../../core/declaration.ts";
import { sampledColumn } from "../../core/rows/columns.ts";
import type { CorrectionInput } from "../../core/slots/correction.ts";
import type { Model } from "../../core/basics.ts";

const name = z.enum(["behaviour", "sampled", "proximal", "reference", "now"]);
export type Distribution = z.output<typeof name>;

/** Parameters of every correction: which ratio it is about. */
export const distributionParams = {
  numerator: param(
    name.default("behaviour"),
    "The target distribution. behaviour: the model that generated, at temperature 1; proximal: the policy before the step's updates; now: the current policy, without gradient.",
  ),
  denominator: param(
    name.default("sampled"),
    "The distribution that the tokens came from. sampled: the distribution that the sampler drew from.",
  ),
};
export type Distributions = z.output<z.ZodObject<typeof distributionParams>>;

/**
 * Where the two differ at all: `behaviour` from `sampled` by what the sampler filters, `proximal` from either where the
 * weights have moved since a rollout was written. `now` moves with every update, `reference` is another model.
 */
export function actsWhere({ numerator, denominator }: Distributions): readonly Matter[] | undefined {
  const both = [numerator, denominator];
  if (both.includes("now") || both.includes("reference")) return undefined;
  const elsewhere: readonly Matter[] = ["replayed", "given", "logged", "branches"];
  if (!both.includes("sampled")) return elsewhere;
  return ["filtered", ...elsewhere];
}

/** Models that the columns come from, besides those that every update has. */
export const modelsOf = ({ numerator, denominator }: Distributions): readonly Model[] =>
  [numerator, denominator].filter((one) => one === "proximal" || one === "reference");

/** Log-probs of a distribution. @throws UserError naming what is missing */
export function columnOf({ batch, now, old }: CorrectionInput, which: Distribution): Float64Array {
  const found =
    which === "sampled"
      ? sampledColumn(batch, "the importance correction")
      : which === "now"
        ? now.logp
        : which === "behaviour"
          ? old.logp
          : old[`logp:${which}`];
  if (found === undefined)
    throw new UserError(
      `the importance correction needs the log-probs of ${which}, and the rollouts have none`,
      { code: "channel-missing", action: "Record them with the rollouts, or choose other distributions." },
    );
  return found;
}

/** log of the ratio per token that trains; 0 where either log-prob is unknown: such a token is not corrected. */
export function logRatios(input: CorrectionInput, { numerator, denominator }: Distributions): Float64Array {
  const [wanted, drawn] = [columnOf(input, numerator), columnOf(input, denominator)];
  const result = new Float64Array(input.weights.length);
  for (let i = 0; i < result.length; i++) {
    if (input.weights[i] === 0) continue;
    const log = wanted[i]! - drawn[i]!;
    if (!Number.isNaN(log)) result[i] = log;
  }
  return result;
}

export const unitParam = param(
  z.enum(["token", "sequence", "sequence_mean"]).default("token"),
  "token: each token's ratio; sequence: the whole response's (product); sequence_mean: its geometric mean.",
);
export type RatioUnit = z.output<typeof unitParam>;

/** Log-ratios to ratios of a unit, in place; `bound` holds the log-ratio. */
export function ratiosOf(
  logs: Float64Array,
  input: CorrectionInput,
  unit: RatioUnit,
  bound: number | null,
): Float64Array {
  if (unit !== "token") gather(logs, input, unit === "sequence" ? "sum" : "mean");
  const most = bound ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i < logs.length; i++) {
    const log = logs[i]!;
    logs[i] = Math.exp(log > most ? most : log < -most ? -most : log);
  }
  return logs;
}

export const clampParam = param(
  z.number().positive().nullable().default(null),
  "Bound on the unit's log-ratio, on both sides; verl: 20.",
);

export const normaliseParam = param(
  z.boolean().default(false),
  "Divide by the weights' mean over the step: over tokens, or over responses where the unit is one.",
);

/** Divides by the mean over tokens, or over rows' values where rows have one. */
export function normalise(factors: Float64Array, input: CorrectionInput, unit: RatioUnit): void {
  const { batch, weights } = input;
  let total = 0;
  let units = 0;
  for (let row = 0; row < batch.rows; row++) {
    let sum = 0;
    let count = 0;
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      if (weights[i] === 0) continue;
      sum += factors[i]!;
      count += 1;
    }
    if (count === 0) continue;
    total += unit === "token" ? sum : sum / count;
    units += unit === "token" ? count : 1;
  }
  const mean = total / units;
  if (!(mean > 1e-8)) return;
  for (let i = 0; i < factors.length; i++) factors[i]! /= mean;
}

/**
 * Weights' mean, effective sample size as a share, and the share of tokens that the bounds touched.
 * @throws UserError if a weight is not finite: an unbounded ratio of far-apart distributions
 */
export function weightMetrics(
  factors: Float64Array,
  { weights }: CorrectionInput,
  touched: number,
): Record<string, number> {
  let sum = 0;
  let squares = 0;
  let count = 0;
  for (let i = 0; i < factors.length; i++) {
    if (weights[i] === 0) continue;
    sum += factors[i]!;
    squares += factors[i]! * factors[i]!;
    count += 1;
  }
  if (!Number.isFinite(sum))
    throw new UserError(
      "a weight of the importance correction is not finite: the sampler and the policy are too far apart",
      { code: "ratio-overflow", action: "Set `high`, or bound the log-ratio with `clamp_log_ratio: 20`." },
    );
  if (count === 0) return {};
  return {
    "correction/weight_mean": sum / count,
    "correction/ess": squares > 0 ? (sum / squares) * (sum / count) : 0,
    "correction/bounded": touched / count,
  };
}
