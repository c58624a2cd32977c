/** From rewards to advantages, and from them to a loss with its gradients by channel. */
import type { Combined } from "./reward.ts";
import type { Channel, Stats, Weighed } from "./policy.ts";
import type { Batch } from "./rollouts.ts";
import type { Clock, Model, Level } from "./basics.ts";

/** Advantage per token, aligned with `batch.tokens`; 0 on rows that do not train. */
export type Advantage = (rewards: Combined, batch: Batch, stats: Stats) => Float64Array;

/** Which tokens train, of the batch as it was generated: returns a new mask column. */
export type BatchMask = (batch: Batch, stats: Stats) => Uint8Array;

/** Which tokens the objective moves, seen by the weights as they are in each update; KL terms go on without it. */
export interface LossMask {
  /** What it needs to see of those weights. */
  readonly channels: readonly Channel[];
  /** The normaliser goes on counting the tokens it leaves out. */
  readonly counted: boolean;
  /** 1 where the objective keeps its token; only asked of tokens whose weight is not 0. */
  keep(input: Pick<ObjectiveInput, "batch" | "now" | "old" | "advantages" | "weights">): Uint8Array;
}

export type Mask = BatchMask | LossMask;

/** Per-token factor after the mask, before normalisation. `advantages` are those of the batch's tokens. */
export interface TokenWeight {
  (batch: Batch, stats: Stats, advantages: Float64Array, clock: Clock): Float64Array;
  /** Models whose log-probs it reads, `stats["logp:<model>"]`. */
  readonly models?: readonly Model[];
}

/** What an objective sees. */
export interface ObjectiveInput {
  readonly batch: Batch;
  /** Channels of the weights as they are now. */
  readonly now: Stats;
  /** Channels as they were when the batch was generated (`logp`), and of other models (`logp:reference`). */
  readonly old: Stats;
  readonly advantages: Float64Array;
  /** What value losses and NFT regress on; absent where only advantages are known. */
  readonly rewards?: Combined;
  /** Per row: 1 where it counts as a success, 0 where not, 2 where that is unknown. Absent as `rewards` may be. */
  readonly success?: Uint8Array;
  readonly clock?: Clock;
  /** Mask × token weighting, per token; 0 where a token does not train. */
  readonly weights: Float64Array;
  /** Per row, which losses it moves: a place of the config's routes. Absent: the objective. */
  readonly routes?: Uint8Array;
  /** What the aggregation makes of `weights`: loss = Σ factors · (loss of the token). */
  readonly factors: Float64Array;
  /** Per token, what the corrections multiply its loss by: only for objectives that apply it themselves. */
  readonly correction?: Float64Array;
  /** The weights' version that `now` is of. */
  readonly version?: number;
  /** Where the derivative by logp may be written: as long as the columns, all 0. */
  readonly gradient?: Float64Array;
}

/** A value head of a model of the run, as that model is. */
export interface HeadOf {
  readonly model: Model;
  readonly head: string;
}

/** What a few objectives read in addition to channels of the weights and to other models' log-probs. */
export interface ObjectiveNeeds {
  /** Channels that it reads in `old` in addition to `logp`: of the weights at the start of the update. */
  readonly before?: readonly Channel[];
  /** Models whose logits' log-sum-exp it reads in `old`, as `logsumexp:<model>`. */
  readonly normalizers?: readonly Model[];
  /** Heads of other models that it reads in `old`, as `head:<head>@<model>`. */
  readonly heads?: readonly HeadOf[];
  /**
   * The same heads' values of an action that the policy takes now instead of the recorded one, as
   * `head:<head>@<model>~drawn` at the state's token. Only a learner of `auxiliary` can ask for them.
   */
  readonly redrawn?: { readonly level: Level; readonly heads: readonly HeadOf[] };
  /** `rowColumns.mismatched_log_ratio` to this model. */
  readonly mismatched?: Model;
  /** `input.correction`, which it applies itself; otherwise the correction is in its factors. */
  readonly correction?: true;
}

/**
 * A family of losses: arithmetic on columns. Ratios of whole sequences, pairs and rankings couple tokens, so an
 * objective returns the whole loss with its derivative by each channel, already multiplied by the factors.
 */
export interface Objective {
  readonly channels: readonly Channel[];
  readonly unit: "sequence" | "pair" | "group";
  /** Models whose log-probs it reads in `old`, as `logp:<model>`; `proximal` is the policy as this update found it. */
  readonly models?: readonly Model[];
  readonly needs?: ObjectiveNeeds;
  loss(input: ObjectiveInput): Weighed;
  /** The same loss, taken some rows at a time: where what a row needs to know of others is known before the first. */
  start?(whole: WholeInput): RunningLoss;
}

/** What a loss that is taken in parts sees of all rows. */
export type WholeInput = Omit<ObjectiveInput, "factors" | "gradient">;

/** Some whole rows of an objective's input, as views of its columns. */
export interface LossSlice extends Omit<ObjectiveInput, "rewards" | "success" | "routes"> {
  /** The place of its first token in the batch. */
  readonly from: number;
  /** The place of its first row. */
  readonly first: number;
  /** Where every token of the part trains, and those of a row count alike: each row's factor. */
  readonly alike?: Float64Array;
  /** Where the derivative by a channel is written: all 0 when it is asked for the first time. */
  readonly gradientOf: (channel: Channel) => Float64Array;
}

/** A loss that is added up part after part. */
export interface RunningLoss {
  /** @returns the part's loss */
  add(part: LossSlice): number;
  /** Of all parts that were added. */
  result(): Pick<Weighed, "metrics" | "touched">;
}

/**
 * The normaliser of a loss: per row, what the `weights` of its tokens are multiplied by to become their factors.
 * `counts`: tokens of each row that train.
 */
export type Aggregate = (counts: Int32Array, batch: Batch) => Float64Array;
