/** Regression of log-ratios over spans on advantages: what several objectives are special cases of. */
import type { Level } from "../../../core/basics.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { anchorColumn, type Anchor } from "../rowLevel.ts";
import { spansOf } from "../../../core/rows/spans.ts";
import { spanMass } from "../spans.ts";

interface SpanRegression {
  readonly beta: number;
  readonly anchor: Anchor;
  readonly level: Level;
  /** Multiplies ½ residual². */
  readonly factor: number;
  readonly shape: "squared" | "smooth_l1";
}

/** ½ r², or beyond ±1 |r| − ½. */
const penalty = (residual: number, linear: boolean): number =>
  linear ? Math.abs(residual) - 0.5 : 0.5 * residual * residual;

/** Σ over spans of mass · factor · ½ (A − β Σ_t w_t (log π − log anchor))²; the mass of a span: its part of the row's share. */
export function spanRegression(input: ObjectiveInput, options: SpanRegression): Weighed {
  const { batch, now, old, weights, advantages } = input;
  const { beta, anchor, factor, shape } = options;
  const logp = column(now, "logp", "the objective");
  const other = anchorColumn(old, anchor);
  const gradient = new Float64Array(weights.length);
  const spans = spansOf(batch, options.level);
  const { starts, ends } = spans;
  const masses = spanMass(spans, options.level, input);
  let loss = 0;
  for (let span = 0; span < starts.length; span++) {
    const [start, end] = [starts[span]!, ends[span]!];
    let ratio = 0;
    let target = 0;
    let count = 0;
    for (let t = start; t < end; t++) {
      if (weights[t] === 0) continue;
      ratio += weights[t]! * (logp[t]! - (other?.[t] ?? 0));
      target += advantages[t]!;
      count += 1;
    }
    if (count === 0) continue;
    const mass = masses[span]!;
    const residual = target / count - beta * ratio;
    const linear = shape === "smooth_l1" && Math.abs(residual) >= 1;
    loss += mass * factor * penalty(residual, linear);
    const back = -mass * factor * beta * (linear ? Math.sign(residual) : residual);
    for (let t = start; t < end; t++) if (weights[t] !== 0) gradient[t] = back * weights[t]!;
  }
  checkLoss(loss, input, {
    "the policy's log-prob": logp,
    [`the log-prob of ${anchor}`]: other,
    "the advantage": advantages,
  });
  return { loss, gradients: { logp: gradient } };
}
