/** Runs a surrogate: the ratios of a part, the method's formula on them, gradients back to the tokens. */
import type { Rule } from "../../../core/rows/touched.ts";
import { addUp, gradientsOf, inParts, partOf, stretchesOf } from "../../../core/rows/batchParts.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput, LossSlice, RunningLoss } from "../../../core/loss.ts";
import { Ratios, type PolicyPart, type Ratio, type RatioOptions } from "./ratio.ts";
import { anchorModels } from "./ratioAnchor.ts";

/** What a method's formula reads of a part's tokens, and where it writes. A class: compiled loops rely on one shape. */
export class ColumnRatio implements Ratio {
  /** The place of the part's first token in the batch. */
  readonly place: number;
  readonly advantages: Float64Array;
  readonly factors: Float64Array;
  /** Tokens of weight 0 are skipped. */
  readonly weights: Float64Array;
  readonly now: Float64Array;
  readonly anchor: Float64Array;
  readonly log: Float64Array;
  readonly ratio: Float64Array;

  constructor(
    { from, advantages, factors, weights }: LossSlice,
    { now, anchor, log, ratio }: Ratio,
    /** The derivative per token: all 0. */
    readonly gradient: Float64Array,
  ) {
    this.place = from;
    this.advantages = advantages;
    this.factors = factors;
    this.weights = weights;
    this.now = now;
    this.anchor = anchor;
    this.log = log;
    this.ratio = ratio;
  }
}

/** A method on one batch. */
export interface Method {
  /**
   * What the derivative is by: the unit's log-ratio, through which it flows on, or log π itself (a ratio that is only
   * a weight).
   */
  readonly by: "log_ratio" | "logp";
  /** The loss of a row, tokens [from, to) of the part, factors included; writes its derivative per token. */
  loss(columns: ColumnRatio, from: number, to: number): number;
  /** The same of a row whose tokens all train, with one factor. */
  alike?(columns: ColumnRatio, factor: number, from: number, to: number): number;
  readonly rules?: readonly Rule[];
  metrics?(trained: number): Readonly<Record<string, number>>;
}

/** A method that looks at the whole batch before the first part or after the last. */
export interface WholeMethod extends Method {
  /** After all parts: how it changes the loss, with derivatives written again. */
  finish?(slope: Float64Array): number;
}

const onPolicy = (part: LossSlice): PolicyPart => ({ ...part, gradient: part.gradientOf("logp") });

class Running implements RunningLoss {
  readonly ratios: Ratios;

  /** @param flows whether a part's derivatives flow on to log π at once */
  constructor(
    options: RatioOptions,
    private readonly method: Method,
    private readonly flows: boolean,
  ) {
    this.ratios = new Ratios(options);
  }

  add(part: LossSlice): number {
    const ratio = this.ratios.of(part);
    const own = onPolicy(part);
    const columns = new ColumnRatio(part, ratio, own.gradient);
    const { rows, offsets } = part.batch;
    let loss = 0;
    const { method } = this;
    for (let row = 0; row < rows; row++) {
      const [from, to] = [offsets[row]!, offsets[row + 1]!];
      loss +=
        part.alike === undefined || method.alike === undefined
          ? method.loss(columns, from, to)
          : method.alike(columns, part.alike[row]!, from, to);
    }
    if (!Number.isFinite(loss)) this.ratios.refuse(part, ratio);
    if (this.flows) this.ratios.through(own);
    return loss;
  }

  result(): Pick<Weighed, "metrics" | "touched"> {
    const { trained } = this.ratios.stats;
    const { rules = [] } = this.method;
    return {
      metrics: {
        ...this.ratios.stats.metrics(),
        ...(trained === 0 ? {} : (this.method.metrics?.(trained) ?? {})),
      },
      touched: Object.assign({}, ...rules.map(({ touched }) => touched)),
    };
  }
}

const about = (options: RatioOptions): Omit<Objective, "loss"> => ({
  channels: ["logp"],
  unit: "sequence",
  models: anchorModels(options.anchor),
});

/** The objective of a method under a choice of ratio. @param methodOn the method on a batch of this many tokens */
export const surrogate = (options: RatioOptions, methodOn: (size: number) => Method): Objective =>
  inParts(about(options), ({ batch }) => {
    const method = methodOn(batch.tokens.length);
    return new Running(options, method, method.by === "log_ratio");
  });

/** The same for a method whose tokens depend on each other over the whole batch. */
export const surrogateOfWhole = (
  options: RatioOptions,
  methodOn: (input: ObjectiveInput) => WholeMethod,
): Objective => ({
  ...about(options),
  loss(input) {
    const method = methodOn(input);
    const running = new Running(options, method, false);
    const gradients = gradientsOf(input);
    const loss = addUp(running, input, gradients) + (method.finish?.(gradients.of("logp")) ?? 0);
    if (method.by === "log_ratio")
      for (const at of stretchesOf(input.batch))
        running.ratios.through(onPolicy(partOf(input, at, gradients)));
    return { loss, gradients: gradients.columns, ...running.result() };
  },
});

/** Shares of the trained tokens that the rules of a clip acted on. */
export const clipMetrics = (low: Rule, high: Rule, trained: number): Record<string, number> => ({
  "update/clip_fraction": (low.count + high.count) / trained,
  "update/clip_low": low.count / trained,
  "update/clip_high": high.count / trained,
});
