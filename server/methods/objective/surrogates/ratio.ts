/** What every surrogate shares: a ratio, over which unit it is, and how gradients flow back. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { exp } from "../../../lib/exponential.ts";
import type { LossSlice } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { notFinite } from "../finite.ts";
import { anchorColumn, anchorParam } from "./ratioAnchor.ts";
import { RatioStats } from "./ratioStats.ts";
import { differencesInto, exponentialsInto, logRatiosInto, Scratch } from "../tokenLoops.ts";

/** Parameters of every objective with a ratio. */
export const ratioParams = {
  ratio: param(
    z.enum(["token", "sequence", "sequence_token", "sequence_sum"]).default("token"),
    "Unit of the ratio. token: each token's own; sequence: the exponential of the response's mean log-ratio, with gradient through all its tokens; sequence_token: that value, with the token's own gradient; sequence_sum: the ratio of whole responses (product over tokens).",
  ),
  anchor: anchorParam,
  clamp_log_ratio: param(
    z
      .union([
        z.number().positive(),
        z.strictObject({
          low: param(z.number().max(0).optional(), "Lower bound on the log-ratio; default: none."),
          high: param(z.number().min(0).optional(), "Upper bound on the log-ratio; default: none."),
        }),
      ])
      .nullable()
      .default(null),
    "Bound on the unit's log-ratio before it is exponentiated: one for both sides, or one for each; no gradient beyond it.",
  ),
};
export type RatioOptions = z.output<z.ZodObject<typeof ratioParams>>;

/** Bounds on the log-ratio; infinite where there is none. */
function boundsOf(clamp: RatioOptions["clamp_log_ratio"]): {
  readonly low: number;
  readonly high: number;
} {
  if (clamp === null) return { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  if (typeof clamp === "number") return { low: -clamp, high: clamp };
  return { low: clamp.low ?? Number.NEGATIVE_INFINITY, high: clamp.high ?? Number.POSITIVE_INFINITY };
}

/** A part with the place of its derivative by log π: all 0. */
export interface PolicyPart extends LossSlice {
  readonly gradient: Float64Array;
}

/** Log-ratios and ratios of a part's tokens; only those of tokens that train are set. */
export interface Ratio {
  readonly now: Float64Array;
  readonly anchor: Float64Array;
  readonly log: Float64Array;
  readonly ratio: Float64Array;
}

export class Ratios {
  readonly stats = new RatioStats();
  private readonly low: number;
  private readonly high: number;
  private readonly bounded: boolean;
  private readonly space = { log: new Scratch(), ratio: new Scratch() };

  constructor(private readonly options: RatioOptions) {
    ({ low: this.low, high: this.high } = boundsOf(options.clamp_log_ratio));
    this.bounded = options.clamp_log_ratio !== null;
  }

  /** Log-ratios and ratios are overwritten by those of the next part. */
  of(part: LossSlice): Ratio {
    const { batch, weights } = part;
    const { rows, offsets } = batch;
    const columns = {
      now: this.now(part),
      anchor: anchorColumn(part, this.options.anchor),
      log: this.space.log.of(weights.length),
      ratio: this.space.ratio.of(weights.length),
    };
    for (let row = 0; row < rows; row++) {
      const [from, to] = [offsets[row]!, offsets[row + 1]!];
      if (this.options.ratio === "token") this.tokens(part, columns, from, to);
      else this.sequence(part, columns, from, to);
    }
    if (!Number.isFinite(this.stats.k3)) this.refuse(part, columns);
    return columns;
  }

  private now(part: LossSlice): Float64Array {
    return column(part.now, "logp", "the objective");
  }

  /** One row: every token has its own value. */
  private tokens(
    { weights, alike }: LossSlice,
    { now, anchor, log, ratio }: Ratio,
    from: number,
    to: number,
  ): void {
    if (this.bounded) logRatiosInto(log, now, anchor, this.low, this.high, from, to);
    else differencesInto(log, now, anchor, from, to);
    exponentialsInto(ratio, log, from, to);
    if (alike === undefined) this.stats.add(weights, log, ratio, from, to);
    else this.stats.addAll(log, ratio, from, to);
  }

  /** One row: every trained token has the row's value. */
  private sequence({ weights }: LossSlice, columns: Ratio, from: number, to: number): void {
    const { low, high, stats } = this;
    const { now, anchor, log, ratio } = columns;
    let total = 0;
    let count = 0;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      total += now[i]! - anchor[i]!;
      count += 1;
    }
    if (count === 0) return;
    const raw = this.options.ratio === "sequence_sum" ? total : total / count;
    const x = Math.min(high, Math.max(low, raw));
    const rho = exp(x);
    log.fill(x, from, to);
    ratio.fill(rho, from, to);
    stats.trained += count;
    stats.sum += count * rho;
    stats.squares += count * rho * rho;
    stats.k3 += count * (rho - 1 - x);
    stats.least = Math.min(stats.least, rho);
    stats.greatest = Math.max(stats.greatest, rho);
  }

  /** A sum over the part is not finite: says which token, or which ratio, is at fault. */
  refuse({ batch, weights }: LossSlice, { now, anchor }: Ratio): never {
    for (let i = 0; i < weights.length; i++) {
      if (weights[i] === 0) continue;
      if (!Number.isFinite(now[i]!)) throw notFinite("logp", now[i]!, batch, i);
      if (!Number.isFinite(anchor[i]!))
        throw notFinite(`the log-prob of ${this.options.anchor}`, anchor[i]!, batch, i);
    }
    throw new UserError("a ratio of probabilities is too large for a number", {
      code: "ratio-overflow",
      action: "Bound it with `objective.clamp_log_ratio`, e.g. 20, or leave those rollouts out.",
    });
  }

  /**
   * From derivatives by the unit's log-ratio, token by token, to those by each token's log π, in place: a row's ratio
   * gathers those of all its tokens.
   */
  through(part: PolicyPart): void {
    const { ratio, clamp_log_ratio } = this.options;
    if (ratio === "token" && clamp_log_ratio === null) return;
    const columns = { now: this.now(part), anchor: anchorColumn(part, this.options.anchor) };
    if (ratio === "token") return this.closeTokens(part, columns);
    const { offsets, rows } = part.batch;
    for (let row = 0; row < rows; row++) this.throughRow(part, columns, offsets[row]!, offsets[row + 1]!);
  }

  private closeTokens({ gradient }: PolicyPart, { now, anchor }: Pick<Ratio, "now" | "anchor">): void {
    for (let i = 0; i < gradient.length; i++) {
      const x = now[i]! - anchor[i]!;
      if (x < this.low || x > this.high) gradient[i] = 0;
    }
  }

  private throughRow(
    { gradient, weights }: PolicyPart,
    { now, anchor }: Pick<Ratio, "now" | "anchor">,
    from: number,
    to: number,
  ): void {
    const { ratio } = this.options;
    let sum = 0;
    let count = 0;
    let raw = 0;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      sum += gradient[i]!;
      raw += now[i]! - anchor[i]!;
      count += 1;
    }
    if (count === 0) return;
    if (ratio !== "sequence_sum") raw /= count;
    if (raw < this.low || raw > this.high) gradient.fill(0, from, to);
    else if (ratio !== "sequence_token") {
      const each = ratio === "sequence" ? sum / count : sum;
      for (let i = from; i < to; i++) if (weights[i] !== 0) gradient[i] = each;
    }
  }
}
