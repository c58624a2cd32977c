import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam } from "../anchor.ts";
import { column } from "../column.ts";
import { clamped } from "../numbers.ts";
import { anchorColumn, anchorModels } from "../rowLevel.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  level: param(
    z.enum(["sequence", "suffix", "block"]).default("suffix"),
    "sequence: one weight per response; suffix: one per token, by what follows it; block: one per block, by what follows it.",
  ),
  block: param(z.number().int().min(1).default(16), "Tokens in a block."),
  gamma: param(z.number().gt(0).max(1).default(0.999), "Discount for each token (or block) that follows."),
  low: param(z.number().default(-0.08), "Lower bound on a token's log-ratio."),
  high: param(z.number().default(0.3), "Upper bound on a token's log-ratio."),
  log_low: param(z.number().default(-10), "Lower bound on the log of a weight."),
  log_high: param(z.number().default(5), "Upper bound on the log of a weight."),
  anchor: anchorParam("behaviour", "; here the model that generated the data"),
});
type Params = z.output<typeof params>;

/** Weights of one row's trained tokens, last to first, from their clipped log-ratios. */
function rowOfWeights(
  tokens: readonly number[],
  delta: Float64Array,
  into: Float64Array,
  options: Params,
): void {
  const { level, block, gamma, log_low, log_high } = options;
  const size = level === "suffix" ? 1 : level === "block" ? block : tokens.length;
  const parts = Math.ceil(tokens.length / size);
  let after = 0;
  for (let part = parts - 1; part >= 0; part--) {
    const own = tokens.slice(part * size, (part + 1) * size);
    const sum = own.reduce((total, t) => total + delta[t]!, 0);
    const log = level === "sequence" ? sum : after + (parts - 1 - part) * Math.log(gamma);
    for (const t of own) into[t] = Math.exp(clamped(log, log_low, log_high));
    after += sum;
  }
}

function pearWeights(input: ObjectiveInput, options: Params): Float64Array {
  const { batch, now, old, weights } = input;
  const logp = column(now, "logp", "the objective");
  const other = anchorColumn(old, options.anchor);
  const delta = logp.map((value, t) =>
    weights[t] === 0 ? 0 : clamped(value - (other?.[t] ?? 0), options.low, options.high),
  );
  const result = new Float64Array(weights.length);
  for (let row = 0; row < batch.rows; row++) {
    const tokens: number[] = [];
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) if (weights[t] !== 0) tokens.push(t);
    if (tokens.length > 0) rowOfWeights(tokens, delta, result, options);
  }
  return result;
}

export const pear = objective({
  name: "pear",
  summary:
    "Likelihood of recorded data, each token weighted by how likely the policy itself would continue as the data does.",
  formula: "ℓ_t = −w_t log π_t, w_t = γ^{T−t} exp(Σ_{j>t} δ_j), δ = clip(log π − log π_data, −0.08, 0.3)",
  sources: ["Good SFT Optimizes for SFT, Better SFT Prepares for Reinforcement Learning"],
  params,
  actsOn: () => ["logged"],
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(options.anchor),
    loss(input): Weighed {
      const weights = pearWeights(input, options);
      return weightedLikelihoodOf(input, (_, t) => weights[t]!);
    },
  }),
});
