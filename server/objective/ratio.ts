/** What every surrogate shares: which distribution its ratio is against, over which unit, and how gradients flow back. */
import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import type { Batch, Model, ObjectiveInput } from "../seams.ts";
import { column } from "./column.ts";
import { notFinite } from "./finite.ts";

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

/** Log-ratios and ratios of some whole rows, at [token − from]; only those of tokens that train are set. */
export interface Block {
  readonly from: number;
  readonly to: number;
  readonly log: Float64Array;
  readonly ratio: Float64Array;
}

/** Tokens that are looked at together: what fits the processor's nearest cache. */
const blockSize = 2048;
let scratch = { log: new Float64Array(0), ratio: new Float64Array(0) };

export class Ratios {
  readonly stats = new RatioStats();
  private readonly now: Float64Array;
  private readonly anchor: Float64Array;
  private readonly low: number;
  private readonly high: number;

  constructor(
    private readonly input: ObjectiveInput,
    private readonly options: RatioOptions,
  ) {
    this.now = column(input.now, "logp", "the objective");
    this.anchor = anchorColumn(input, options.anchor);
    ({ low: this.low, high: this.high } = boundsOf(options.clamp_log_ratio));
  }

  /** Calls with block after block of whole rows. The block's columns are overwritten by the next. */
  each(visit: (block: Block) => void): void {
    const { offsets, rows } = this.input.batch;
    for (let row = 0; row < rows;) {
      const first = row;
      const from = offsets[first]!;
      do row += 1;
      while (row < rows && offsets[row + 1]! - from <= blockSize);
      const to = offsets[row]!;
      if (scratch.log.length < to - from)
        scratch = { log: new Float64Array(to - from), ratio: new Float64Array(to - from) };
      if (this.options.ratio === "token") this.tokens(from, to);
      else for (let r = first; r < row; r++) this.sequence(offsets[r]!, offsets[r + 1]!, from);
      visit({ from, to, ...scratch });
    }
  }

  private tokens(from: number, to: number): void {
    const { now, anchor, low, high, stats } = this;
    const { weights } = this.input;
    const { log, ratio } = scratch;
    let { trained, sum, squares, least, greatest, k3 } = stats;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      let x = now[i]! - anchor[i]!;
      if (x > high) x = high;
      else if (x < low) x = low;
      const rho = Math.exp(x);
      log[i - from] = x;
      ratio[i - from] = rho;
      trained += 1;
      sum += rho;
      squares += rho * rho;
      k3 += rho - 1 - x;
      if (rho < least) least = rho;
      if (rho > greatest) greatest = rho;
    }
    Object.assign(stats, { trained, sum, squares, least, greatest, k3 });
    if (!Number.isFinite(k3)) this.refuse(from, to);
  }

  /** One row: every trained token has the row's value. */
  private sequence(from: number, to: number, base: number): void {
    const { now, anchor, low, high, stats } = this;
    const { weights } = this.input;
    let [total, count] = [0, 0];
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      total += now[i]! - anchor[i]!;
      count += 1;
    }
    if (count === 0) return;
    const raw = this.options.ratio === "sequence_sum" ? total : total / count;
    const x = Math.min(high, Math.max(low, raw));
    const rho = Math.exp(x);
    scratch.log.fill(x, from - base, to - base);
    scratch.ratio.fill(rho, from - base, to - base);
    stats.trained += count;
    stats.sum += count * rho;
    stats.squares += count * rho * rho;
    stats.k3 += count * (rho - 1 - x);
    stats.least = Math.min(stats.least, rho);
    stats.greatest = Math.max(stats.greatest, rho);
    if (!Number.isFinite(stats.k3)) this.refuse(from, to);
  }

  /** A sum over the block is not finite: says which token, or which ratio, is at fault. */
  refuse(from = 0, to = this.now.length): never {
    const { batch, weights } = this.input;
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      if (!Number.isFinite(this.now[i]!)) throw notFinite("logp", this.now[i]!, batch, i);
      if (!Number.isFinite(this.anchor[i]!))
        throw notFinite(`the log-prob of ${this.options.anchor}`, this.anchor[i]!, batch, i);
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
  throughRatio(slope: Float64Array): void {
    const { ratio, clamp_log_ratio } = this.options;
    if (ratio === "token") {
      if (clamp_log_ratio !== null) this.closeTokens(slope);
      return;
    }
    const { offsets, rows } = this.input.batch;
    for (let row = 0; row < rows; row++) this.throughRow(slope, offsets[row]!, offsets[row + 1]!);
  }

  private closeTokens(slope: Float64Array): void {
    for (let i = 0; i < slope.length; i++) {
      const x = this.now[i]! - this.anchor[i]!;
      if (x < this.low || x > this.high) slope[i] = 0;
    }
  }

  private throughRow(slope: Float64Array, from: number, to: number): void {
    const { ratio } = this.options;
    const { weights } = this.input;
    let [sum, count, raw] = [0, 0, 0];
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      sum += slope[i]!;
      raw += this.now[i]! - this.anchor[i]!;
      count += 1;
    }
    if (count === 0) return;
    if (ratio !== "sequence_sum") raw /= count;
    if (raw < this.low || raw > this.high) slope.fill(0, from, to);
    else if (ratio !== "sequence_token") {
      const each = ratio === "sequence" ? sum / count : sum;
      for (let i = from; i < to; i++) if (weights[i] !== 0) slope[i] = each;
    }
  }
}
