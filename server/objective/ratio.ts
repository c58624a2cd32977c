/** What every surrogate shares: which distribution its ratio is against, over which unit, and how gradients flow back. */
import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import { exp } from "../exponential.ts";
import type { Batch, Model, ObjectiveInput, Part } from "../seams.ts";
import { column } from "./column.ts";
import { notFinite } from "./finite.ts";
import { differencesInto, exponentialsInto, logRatiosInto, Scratch } from "./tokenLoops.ts";

export const anchorParam = z
  .enum(["behaviour", "proximal", "interpolated", "reference", "sampled"])
  .default("behaviour")
  .describe(
    "What the ratio is against. behaviour: the model that generated, at temperature 1; sampled: the distribution drawn from; proximal: the policy as the step's updates found it, computed anew; interpolated: that, estimated between behaviour and now by the weights' versions; reference: the reference model.",
  );

/** Parameters of every objective with a ratio. */
export const ratioParams = {
  ratio: z
    .enum(["token", "sequence", "sequence_token", "sequence_sum"])
    .default("token")
    .describe(
      "Unit of the ratio. token: each token's own; sequence: the exponential of the response's mean log-ratio, with gradient through all its tokens; sequence_token: that value, with the token's own gradient; sequence_sum: the ratio of whole responses (product over tokens).",
    ),
  anchor: anchorParam,
  clamp_log_ratio: z
    .union([
      z.number().positive(),
      z.strictObject({
        low: z.number().max(0).optional().describe("Least log-ratio; default: none."),
        high: z.number().min(0).optional().describe("Greatest log-ratio; default: none."),
      }),
    ])
    .nullable()
    .default(null)
    .describe(
      "Bound on the unit's log-ratio before it is exponentiated, on both sides or on each; no gradient beyond it.",
    ),
};

export type Anchor = z.output<typeof anchorParam>;
export interface RatioOptions {
  readonly ratio: "token" | "sequence" | "sequence_token" | "sequence_sum";
  readonly anchor: Anchor;
  readonly clamp_log_ratio:
    number | { readonly low?: number | undefined; readonly high?: number | undefined } | null;
}

/** The models beside the behaviour whose log-probs an anchor needs. */
export const anchorModels = (anchor: Anchor): readonly Model[] =>
  anchor === "reference" || anchor === "proximal" ? [anchor] : [];

/** The log-probs that the ratio is against, per token. @throws UserError naming the column that is missing */
export function anchorColumn(
  { batch, now, old, version }: Pick<ObjectiveInput, "batch" | "now" | "old" | "version">,
  anchor: Anchor,
): Float64Array {
  const who = `a ratio to ${anchor}`;
  switch (anchor) {
    case "behaviour":
      return column(old, "logp", "the objective");
    case "reference":
    case "proximal":
      return column(old, `logp:${anchor}`, who);
    case "sampled":
      return sampledColumn(batch, who);
    case "interpolated":
      return interpolated(batch, column(now, "logp", who), column(old, "logp", who), version);
  }
}

/** @throws UserError where the rollouts lack `logp_sampled` */
export function sampledColumn({ columns }: Batch, who: string): Float64Array {
  if (columns.logp_sampled !== undefined) return columns.logp_sampled;
  throw new UserError(`${who} needs logp_sampled, which was not given`, {
    code: "channel-missing",
    action: "Record logp_sampled with the rollouts, or choose options that do not use it.",
  });
}

/**
 * log π_prox ≈ log π_behav + α (log π − log π_behav), α = (v_prox − v_behav) / (v − v_behav) in [0, 1], from the
 * versions of the weights: v that of now, v_prox that at the start of the step's updates.
 */
function interpolated(
  { columns, version: start }: Batch,
  now: Float64Array,
  behaviour: Float64Array,
  version: number | undefined,
): Float64Array {
  const { versions } = columns;
  if (versions === undefined || version === undefined)
    throw new UserError("a ratio to interpolated log-probs needs the weights' version of each token", {
      code: "channel-missing",
      action: "Record `versions` with the rollouts, or choose another anchor.",
    });
  const proximal = start ?? version - 1;
  return behaviour.map((then, i) => {
    const [gap, all] = [proximal - versions[i]!, version - versions[i]!];
    const alpha = versions[i]! < 0 || all <= 0 ? 0 : Math.min(1, Math.max(0, gap / all));
    return alpha === 0 ? then : then + alpha * (now[i]! - then);
  });
}

/** Bounds on the log-ratio; infinite where there is none. */
export function boundsOf(clamp: RatioOptions["clamp_log_ratio"]): {
  readonly low: number;
  readonly high: number;
} {
  if (clamp === null) return { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  if (typeof clamp === "number") return { low: -clamp, high: clamp };
  return { low: clamp.low ?? Number.NEGATIVE_INFINITY, high: clamp.high ?? Number.POSITIVE_INFINITY };
}

/** What one pass over the ratios finds, over trained tokens. */
export class RatioStats {
  trained = 0;
  sum = 0;
  squares = 0;
  least = Number.POSITIVE_INFINITY;
  greatest = Number.NEGATIVE_INFINITY;
  /** Σ (ρ − 1 − log ρ): k3 of KL(anchor ‖ policy). */
  k3 = 0;

  /** Of one row. A loop of its own: sums beside the exponential would be moved out of its way at every token. */
  add(weights: Float64Array, log: Float64Array, ratio: Float64Array, from: number, to: number): void {
    let trained = 0;
    let sum = 0;
    let squares = 0;
    let k3 = 0;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      const rho = ratio[i]!;
      trained += 1;
      sum += rho;
      squares += rho * rho;
      k3 += rho - 1 - log[i]!;
      if (rho < least) least = rho;
      if (rho > greatest) greatest = rho;
    }
    this.trained += trained;
    this.sum += sum;
    this.squares += squares;
    this.k3 += k3;
    this.least = Math.min(this.least, least);
    this.greatest = Math.max(this.greatest, greatest);
  }

  /** Of a row whose tokens all train. */
  addAll(log: Float64Array, ratio: Float64Array, from: number, to: number): void {
    let sum = 0;
    let squares = 0;
    let k3 = 0;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = from; i < to; i++) {
      const rho = ratio[i]!;
      sum += rho;
      squares += rho * rho;
      k3 += rho - 1 - log[i]!;
      if (rho < least) least = rho;
      if (rho > greatest) greatest = rho;
    }
    this.trained += to - from;
    this.sum += sum;
    this.squares += squares;
    this.k3 += k3;
    this.least = Math.min(this.least, least);
    this.greatest = Math.max(this.greatest, greatest);
  }

  metrics(): Record<string, number> {
    if (this.trained === 0) return {};
    return {
      "update/ratio_mean": this.sum / this.trained,
      "update/ratio_min": this.least,
      "update/ratio_max": this.greatest,
      "update/ess": this.squares > 0 ? (this.sum / this.squares) * (this.sum / this.trained) : 0,
      "update/anchor_kl": this.k3 / this.trained,
    };
  }
}

/** A part with the place of its derivative by log π: all 0. */
export interface PolicyPart extends Part {
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
  of(part: Part): Ratio {
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

  private now(part: Part): Float64Array {
    return column(part.now, "logp", "the objective");
  }

  /** One row: every token has its own value. */
  private tokens(
    { weights, alike }: Part,
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
  private sequence({ weights }: Part, columns: Ratio, from: number, to: number): void {
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
  refuse({ batch, weights }: Part, { now, anchor }: Ratio): never {
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
