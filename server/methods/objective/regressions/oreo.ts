import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { inParts } from "../../../core/rows/batchParts.ts";
import type { LossSlice, RunningLoss, WholeInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { anchorColumn, anchorModels } from "../rowLevel.ts";
import { firstTrained, spansOf, type Spans } from "../../../core/rows/spans.ts";
import { spanMass } from "../spans.ts";
import { Scratch } from "../tokenLoops.ts";
import { returnsOf } from "../values/tokenRewards.ts";
import { headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "../values/valueParams.ts";

const params = z.object({
  beta: betaParam(0.03),
  anchor: anchorParam("reference"),
  level: param(
    z.enum(["token", "step", "turn", "response"]).default("token"),
    "The unit of an action: the state before it has a value, and its log-ratio trains.",
  ),
  head: headParam("value"),
  value_weight: param(z.number().min(0).default(1), "Factor on the loss of the value head."),
  gamma: param(z.number().min(0).max(1).default(1), "Discount of future rewards; the paper has none."),
});

type Params = z.output<typeof params>;

/** Of a part's tokens. */
interface OreoColumns {
  readonly weights: Float64Array;
  readonly factors: Float64Array;
  readonly logp: Float64Array;
  readonly other: Float64Array;
  readonly value: Float64Array;
  readonly returns: Float64Array;
  /** Where the derivatives by log π and by the value are written. */
  readonly byLogp: Float64Array;
  readonly byValue: Float64Array;
}

function start(whole: WholeInput, options: Params): RunningLoss {
  const returnsOn = returnsOf(whole, options.gamma);
  const nothing = new Scratch();
  return {
    add: (part) => loss(part, returnsOn(part), nothing.of(part.weights.length), options),
    result: () => ({}),
  };
}

function loss(part: LossSlice, returns: Float64Array, nothing: Float64Array, options: Params): number {
  const { anchor, head } = options;
  const { batch, weights, factors } = part;
  const columns = {
    weights,
    factors,
    logp: column(part.now, "logp", "oreo"),
    other: anchorColumn(part.old, anchor) ?? nothing,
    value: column(part.now, headChannel(head), "oreo"),
    returns,
    byLogp: part.gradientOf("logp"),
    byValue: part.gradientOf(headChannel(head)),
  };
  let total = 0;
  if (options.level === "token")
    for (let row = 0; row < batch.rows; row++)
      total += tokensLoss(columns, options, batch.offsets[row]!, batch.offsets[row + 1]!);
  else total = spansLoss(columns, options, spansOf(batch, options.level), part);
  checkLoss(total, part, {
    "the policy's log-prob": columns.logp,
    [`the log-prob of ${anchor}`]: columns.other,
    [`the value of head ${head}`]: columns.value,
  });
  return total;
}

/** Every token of a row an action. */
function tokensLoss(
  { weights, factors, logp, other, value, returns, byLogp, byValue }: OreoColumns,
  { beta, value_weight: coefficient }: Params,
  from: number,
  to: number,
): number {
  let total = 0;
  // β Σ_{i ≥ t} of the log-ratios; what comes after the present action is constant.
  let later = 0;
  for (let t = to - 1; t >= from; t--) {
    const weight = weights[t]!;
    if (weight === 0) continue;
    later += beta * weight * (logp[t]! - other[t]!);
    const residual = value[t]! - returns[t]! + later;
    const slope = 2 * factors[t]! * residual;
    total += (1 + coefficient) * factors[t]! * residual * residual;
    byValue[t] = coefficient * slope;
    byLogp[t] = beta * slope * weight;
  }
  return total;
}

/** The same of spans: each has the value before its first token that trains. */
function spansLoss(
  { weights, logp, other, value, returns, byLogp, byValue }: OreoColumns,
  { beta, level, value_weight: coefficient }: Params,
  { starts, ends, rows }: Spans,
  part: LossSlice,
): number {
  const mass = spanMass({ starts, ends, rows }, level, part);
  let total = 0;
  let row = -1;
  let later = 0;
  for (let k = starts.length - 1; k >= 0; k--) {
    const [start, end] = [starts[k]!, ends[k]!];
    const first = firstTrained(weights, start, end);
    if (rows[k] !== row) {
      row = rows[k]!;
      later = 0;
    }
    if (first < 0) continue;
    for (let t = start; t < end; t++)
      if (weights[t] !== 0) later += beta * weights[t]! * (logp[t]! - other[t]!);
    const residual = value[first]! - returns[first]! + later;
    const slope = 2 * mass[k]! * residual;
    total += (1 + coefficient) * mass[k]! * residual * residual;
    byValue[first] = coefficient * slope;
    for (let t = start; t < end; t++) if (weights[t] !== 0) byLogp[t] = beta * slope * weights[t]!;
  }
  return total;
}

export const oreo = objective({
  name: "oreo",
  summary:
    "Path consistency: a state's value minus the response's reward equals −β times the sum of the log-ratios that follow.",
  formula:
    "ℓ = (V(s_t) − R_t + β Σ_{i≥t} log π/π_ref)²; the policy trains on the present action, V on the whole",
  sources: ["Offline Reinforcement Learning for LLM Multi-Step Reasoning"],
  params,
  actsOn: () => ["logged", "replayed"],
  create: (options) =>
    inParts(
      {
        channels: ["logp", headChannel(options.head)],
        models: anchorModels(options.anchor),
        unit: "sequence",
      },
      (whole) => start(whole, options),
    ),
});
