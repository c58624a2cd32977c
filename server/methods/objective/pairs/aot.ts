import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { smoothed, smoothing } from "./links.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairsOf, type Pairs } from "./pairs.ts";
import { anchorModels, rowSums, spread } from "../rowLevel.ts";

const params = z.object({
  beta: betaParam(0.1),
  anchor: anchorParam("reference"),
  pairs: pairing(),
  compare: param(
    z.enum(["margins", "answers"]).default("margins"),
    "margins: the policy's log-odds of better over worse against the reference's (`aot`); answers: the log-ratios of the better answers against those of the worse ones, across pairs (`aot_unpaired`).",
  ),
  label_smoothing: smoothing,
});
type Params = z.output<typeof params>;

/** Positions in the order of their values; equals keep their order. */
const ranked = (values: Float64Array): Int32Array =>
  Int32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b);

interface Quantiles {
  readonly above: Float64Array;
  readonly below: Float64Array;
}

/** The two samples whose quantiles are compared: the first is to lie above the second. */
function samples(
  { better, worse }: Pairs,
  ratio: Float64Array,
  logp: Float64Array,
  compare: Params["compare"],
): Quantiles {
  if (compare === "answers")
    return {
      above: Float64Array.from(better, (row) => ratio[row]!),
      below: Float64Array.from(worse, (row) => ratio[row]!),
    };
  const margin = (of: (row: number) => number): Float64Array =>
    Float64Array.from(better, (row, k) => of(row) - of(worse[k]!));
  return { above: margin((row) => logp[row]!), below: margin((row) => logp[row]! - ratio[row]!) };
}

function loss(input: ObjectiveInput, { beta, anchor, pairs, compare, label_smoothing }: Params): Weighed {
  const sums = rowSums(input, anchor);
  const logp = rowSums(input, "none").value;
  const compared = pairsOf(input, pairs);
  const { above, below } = samples(compared, sums.value, logp, compare);
  const [first, second] = [ranked(above), ranked(below)];
  const slopes = new Float64Array(input.batch.rows);
  const count = first.length;
  let total = 0;
  for (let place = 0; place < count; place++) {
    const [up, low] = [first[place]!, second[place]!];
    const [value, byLogit] = smoothed(beta * (above[up]! - below[low]!), label_smoothing);
    total += value / count;
    const slope = (beta * byLogit) / count;
    slopes[compared.better[up]!]! += slope;
    // Margins of the reference do not move.
    slopes[compared.worse[compare === "margins" ? up : low]!]! -= slope;
  }
  return {
    loss: total,
    gradients: { logp: spread(slopes, sums, input) },
    metrics: { "update/pairs": count },
  };
}

export const aot = objective({
  name: "aot",
  summary:
    "Optimal transport in one dimension: the batch's better answers should exceed the worse ones quantile by quantile, not pair by pair. All pairs of a mini-batch are compared at once.",
  formula: "ℓ = mean_k −log σ(β(a_(k) − b_(k))) over the sorted samples a (the larger) and b",
  sources: ["Distributional Preference Alignment of LLMs via Optimal Transport"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
