import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { ratioParams } from "./ratio.ts";
import { anchorColumn, type Anchor } from "./ratioAnchor.ts";
import { Rule } from "../../../core/rows/touched.ts";
import { clipMetrics, surrogateOfWhole, type WholeMethod } from "./surrogate.ts";

/** Squared log-ratios of the tokens that an update goes on moving away from the anchor. */
function squaresAway(input: ObjectiveInput, anchor: Anchor): Float64Array {
  const { now, advantages, weights } = input;
  const logp = column(now, "logp", "the objective");
  const then = anchorColumn(input, anchor);
  const squares: number[] = [];
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    const log = logp[i]! - then[i]!;
    // A log-ratio that is no number is named by the ratio itself.
    if (advantages[i]! * log > 0) squares.push(log * log);
  }
  return Float64Array.from(squares).sort();
}

/**
 * The largest of the log-ratios' sizes at which all larger ones can be held, so that the mean square is within the budget.
 * @param squares ascending
 * @returns infinite where nothing need be held
 */
export function bound(squares: Float64Array, budget: number): number {
  const wanted = budget * squares.length;
  if (squares.reduce((sum, square) => sum + square, 0) <= wanted) return Number.POSITIVE_INFINITY;
  let below = 0;
  for (let k = 0; k < squares.length; k++) {
    below += squares[k]!;
    if (below + squares[k]! * (squares.length - k - 1) < wanted) continue;
    // A hair less, as in the source: the token whose size the bound is is held, too.
    return k === 0 ? 0 : Math.sqrt(Math.max(0, squares[k - 1]! - 1e-12));
  }
  return Number.POSITIVE_INFINITY;
}

const params = z.object({
  budget: param(
    z.number().positive().default(0.04),
    "τ: the mean squared log-ratio that the tokens moving away may have; 0.04 in the source.",
  ),
  least_low: param(
    z.number().min(0).max(1).default(0),
    "How far below 1 a ratio may fall at least, whatever the budget says.",
  ),
  least_high: param(
    z.number().min(0).default(0),
    "How far above 1 a ratio may rise at least, whatever the budget says.",
  ),
  anchor: ratioParams.anchor,
  clamp_log_ratio: ratioParams.clamp_log_ratio,
});

function secondMomentOn(input: ObjectiveInput, options: z.output<typeof params>): WholeMethod {
  const [below, above] = [
    new Rule("clip_low", input.weights.length),
    new Rule("clip_high", input.weights.length),
  ];
  const squares = squaresAway(input, options.anchor);
  const held = bound(squares, options.budget);
  const floor = Math.min(Math.exp(-held), 1 - options.least_low);
  const ceiling = Math.max(Math.exp(held), 1 + options.least_high);
  const moment = squares.reduce((sum, square) => sum + square, 0) / Math.max(1, squares.length);
  return {
    by: "log_ratio",
    rules: [below, above],
    metrics: (trained) => ({ ...clipMetrics(below, above, trained), "update/second_moment": moment }),
    loss: ({ place, advantages, factors, weights, gradient, ratio }, from, to) => {
      let loss = 0;
      for (let i = from; i < to; i++) {
        const advantage = advantages[i]!;
        if (weights[i] === 0 || advantage === 0) continue;
        const factor = factors[i]! * advantage;
        const rho = ratio[i]!;
        const rule = advantage > 0 ? (rho > ceiling ? above : undefined) : rho < floor ? below : undefined;
        if (rule === undefined) gradient[i] = -factor * rho;
        else rule.act(place + i);
        loss -= factor * (rule === undefined ? rho : rule === above ? ceiling : floor);
      }
      return loss;
    },
  };
}

export const secondMoment = objective({
  name: "second_moment",
  aliases: ["m2po"],
  summary:
    "The clipped surrogate with bounds that each update finds for itself: as wide as a budget on the mean squared log-ratio of the tokens that move away allows. Stale rollouts lose only their outliers.",
  formula:
    "ℓ = −min(ρ A, clip(ρ, e^−κ, e^κ) A); κ = ∞ where mean Δ² ≤ τ over the N tokens with A Δ > 0, Δ = log ρ; else |Δ| of the token before the first Δ_k, by size, with Σ_{j≤k} Δ_j² + (N − k) Δ_k² ≥ τ N",
  sources: ["Prosperity before Collapse: How Far Can Off-Policy RL Reach with Stale Data on LLMs?"],
  params,
  create: (options) =>
    surrogateOfWhole({ ...options, ratio: "token" }, (input) => secondMomentOn(input, options)),
});
