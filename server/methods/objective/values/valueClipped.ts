import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { excess } from "../numbers.ts";
import { valueLoss, type ValueColumns, type ValueMethod } from "./valueLoss.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { gammaParam, statesParam } from "./valueParams.ts";

const params = z.object({
  head: headParam("value"),
  clip: param(
    z.number().gt(0).nullable().default(0.2),
    "How far the value may move from what it was before the update; null: no clip. verl: cliprange_value 0.5.",
  ),
  gamma: gammaParam,
  level: statesParam,
});

const rounding = 1e-9;

/** Sums over the tokens that train. */
class Found {
  trained = 0;
  clipped = 0;
  returns = 0;
  /** Σ R². */
  returnSquares = 0;
  /** Σ (V − R), and Σ (V − R)². */
  errors = 0;
  squares = 0;

  metrics(): Readonly<Record<string, number>> {
    const { trained, returns, errors, squares } = this;
    if (trained === 0) return {};
    const [target, off] = [returns / trained, errors / trained];
    const spread = this.returnSquares / trained - target * target;
    const left = squares / trained - off * off;
    return {
      "value/clip_fraction": this.clipped / trained,
      "value/return": target,
      "value/mean": target + off,
      "value/error": squares / trained,
      // Returns that are equal but for rounding leave nothing to explain.
      ...(spread > rounding * Math.max(1, target * target) && {
        "value/explained_variance": 1 - left / spread,
      }),
    };
  }
}

function clippedTo(clip: number | null): ValueMethod {
  const found = new Found();
  // Without a clip a value is as near as it can be.
  const before = (columns: ValueColumns): Float64Array => (clip === null ? columns.now : columns.before);
  return {
    loss: (columns, from, to) => rowLoss(columns, before(columns), clip ?? 0, found, from, to),
    alike(columns, factor, from, to) {
      const total = rowLossAlike(columns, before(columns), clip ?? 0, factor, found, from, to);
      return total ?? rowLoss(columns, before(columns), clip ?? 0, found, from, to);
    },
    metrics: () => found.metrics(),
  };
}

function rowLoss(
  { weights, factors, now, returns, gradient }: ValueColumns,
  before: Float64Array,
  reach: number,
  found: Found,
  from: number,
  to: number,
): number {
  let total = 0;
  let trained = 0;
  let clipped = 0;
  let all = 0;
  let allSquares = 0;
  let off = 0;
  let errors = 0;
  for (let t = from; t < to; t++) {
    if (weights[t] === 0) continue;
    const error = now[t]! - returns[t]!;
    const near = error - excess(now[t]! - before[t]!, reach);
    trained += 1;
    all += returns[t]!;
    allSquares += returns[t]! * returns[t]!;
    off += error;
    errors += error * error;
    // An unknown earlier value, NaN, clips nothing.
    if (near * near > error * error) {
      clipped += 1;
      total += 0.5 * factors[t]! * near * near;
    } else {
      total += 0.5 * factors[t]! * error * error;
      gradient[t] = factors[t]! * error;
    }
  }
  found.trained += trained;
  found.clipped += clipped;
  found.returns += all;
  found.returnSquares += allSquares;
  found.errors += off;
  found.squares += errors;
  return total;
}

/**
 * The same where every token trains and counts alike; undefined where a value is not known. Whether the clip acts is
 * unpredictable: a product replaces the branch.
 */
function rowLossAlike(
  { now, returns, gradient }: ValueColumns,
  before: Float64Array,
  reach: number,
  factor: number,
  found: Found,
  from: number,
  to: number,
): number | undefined {
  let total = 0;
  let clipped = 0;
  let all = 0;
  let allSquares = 0;
  let off = 0;
  let errors = 0;
  for (let t = from; t < to; t++) {
    const value = now[t]!;
    const target = returns[t]!;
    const error = value - target;
    const beyond = excess(value - before[t]!, reach);
    // (error − beyond)² − error²: what the clip would add.
    const more = beyond * (beyond - 2 * error);
    const acts = Number(more > 0);
    all += target;
    allSquares += target * target;
    off += error;
    errors += error * error;
    clipped += acts;
    total += 0.5 * (more + Math.abs(more));
    gradient[t] = factor * error * (1 - acts);
  }
  if (Number.isNaN(total)) return undefined;
  found.trained += to - from;
  found.clipped += clipped;
  found.returns += all;
  found.returnSquares += allSquares;
  found.errors += off;
  found.squares += errors;
  return 0.5 * factor * (errors + total);
}

export const valueClipped = objective({
  name: "value_clipped",
  aliases: ["value"],
  summary:
    "PPO's critic: regresses a value head on returns, and a clip limits how far the value moves in one update.",
  formula: "ℓ = ½ max((V − R)², (clip(V, V_old ± c) − R)²)",
  sources: ["Proximal Policy Optimization Algorithms", "HybridFlow: A Flexible and Efficient RLHF Framework"],
  params,
  create: ({ clip, ...options }) => valueLoss(options, () => clippedTo(clip)),
});
