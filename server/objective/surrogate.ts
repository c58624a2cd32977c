/** Runs a surrogate: ratios block by block, the method's formula on each, gradients back to the tokens. */
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { anchorModels, Ratios, type Block, type RatioOptions } from "./ratio.ts";

/** Tokens that one of a method's rules acted on. */
export class Rule {
  count = 0;
  private tokens: Uint8Array | undefined;

  constructor(
    readonly name: string,
    private readonly size: number,
  ) {}

  act(token: number): void {
    this.count += 1;
    (this.tokens ??= new Uint8Array(this.size))[token] = 1;
  }
  get touched(): Readonly<Record<string, Uint8Array>> {
    return this.tokens === undefined ? {} : { [this.name]: this.tokens };
  }
}

/** A method on one batch. */
export interface Method {
  /**
   * What the derivative is by: the unit's log-ratio, through which it flows on, or log π itself (a ratio that is only
   * a weight).
   */
  readonly by: "log_ratio" | "logp";
  /** Adds up the block's loss, factors included, and writes its derivative per token. Tokens of weight 0 are skipped. */
  block(block: Block, slope: Float64Array): number;
  /** After all blocks: what it changes of the loss, with derivatives written anew. */
  finish?(slope: Float64Array): number;
  readonly rules?: readonly Rule[];
  metrics?(trained: number): Readonly<Record<string, number>>;
}

function run(
  input: ObjectiveInput,
  options: RatioOptions,
  methodOn: (input: ObjectiveInput) => Method,
): Weighed {
  const ratios = new Ratios(input, options);
  const method = methodOn(input);
  const slope = input.gradient ?? new Float64Array(input.weights.length);
  let loss = 0;
  ratios.each((block) => (loss += method.block(block, slope)));
  loss += method.finish?.(slope) ?? 0;
  if (!Number.isFinite(loss)) ratios.refuse();
  if (method.by === "log_ratio") ratios.throughRatio(slope);
  const { trained } = ratios.stats;
  return {
    loss,
    gradients: { logp: slope },
    metrics: { ...ratios.stats.metrics(), ...(trained === 0 ? {} : (method.metrics?.(trained) ?? {})) },
    touched: Object.assign({}, ...(method.rules ?? []).map(({ touched }) => touched)),
  };
}

/** The objective of a method under a choice of ratio. */
export const surrogate = (options: RatioOptions, methodOn: (input: ObjectiveInput) => Method): Objective => ({
  channels: ["logp"],
  unit: "sequence",
  models: anchorModels(options.anchor),
  loss: (input) => run(input, options, methodOn),
});

/** Shares of the trained tokens that the rules of a clip acted on. */
export const clipMetrics = (low: Rule, high: Rule, trained: number): Record<string, number> => ({
  "update/clip_fraction": (low.count + high.count) / trained,
  "update/clip_low": low.count / trained,
  "update/clip_high": high.count / trained,
});
