/** What the KL slot is made of. */
import type { Clock, Model } from "../basics.ts";
import type { Batch } from "../rollouts.ts";
import type { Stats } from "../policy.ts";

/** A divergence on one token: its value and its derivative by logp, given logp and the other model's logp. */
export interface KlPoint {
  value(logp: number, other: number): number;
  slope(logp: number, other: number): number;
}

/** Columns that an estimator adds itself up over: per token, with the factor that each token has. */
export interface KlColumns {
  readonly own: Float64Array;
  readonly other: Float64Array;
  /** 0 where the term does not act. */
  readonly factors: Float64Array;
  readonly coefficient: number;
  /** Derivative by logp, added to. */
  readonly gradient: Float64Array;
  /** As long as the others; its contents are undefined. */
  readonly scratch: Float64Array;
}

/** What a divergence of whole distributions compares, beside the entry's model and direction. */
export interface WholeDivergence {
  /** Of the generalised Jensen–Shannon divergence, in place of a direction. */
  readonly beta?: number;
  /** Words that the other model finds likeliest; undefined: all. */
  readonly top_k?: number | undefined;
  readonly temperature: number;
}

/** A KL estimator: KL(policy ‖ model) from log-probs of sampled tokens, and KL(model ‖ policy) where it can. */
export interface KlEstimator extends KlPoint {
  /** Of KL(model ‖ policy), still from the policy's own samples. */
  readonly forward?: KlPoint;
  /** Exact over the vocabulary: read from a channel of the policy, not from log-probs. */
  readonly full?: WholeDivergence;
  /** The same for whole columns: coefficient · Σ factor · value; Σ of k3 over tokens with a factor, and how many. */
  sum?(columns: KlColumns): { readonly loss: number; readonly k3: number; readonly count: number };
}

/** Which rollouts a KL term acts on; a rollout of which it is unknown whether it succeeded counts as neither. */
export const klRows = ["all", "right", "wrong", "all_right", "all_wrong", "mixed", "distilled"] as const;
export type KlRows = (typeof klRows)[number];

/** One line of the config's `kl` list, ready to use. */
export interface KlTerm {
  /** `<model>@<name>` where it has a teacher context. */
  readonly model: Model;
  readonly direction: "reverse" | "forward";
  readonly place: "reward" | "loss";
  /** Of the term's own direction. */
  readonly estimator: KlEstimator;
  readonly coefficient: (clock: Clock) => number;
  /** It reads the entropy of its model at each token, as `old["entropy:<model>"]`. */
  readonly entropy?: boolean;
  /** Factor per token from the entry's mask, turns and weight; absent: 1 everywhere. */
  readonly acts?: (input: KlInput) => Float64Array;
}

/** What decides where a KL term acts. `weights` are those of the tokens that train, 0 elsewhere. */
export interface KlInput {
  readonly batch: Batch;
  readonly old: Stats;
  readonly weights: ArrayLike<number>;
  /** Per row, see `ObjectiveInput.success`. */
  readonly success?: Uint8Array;
  /** Per row, see `ObjectiveInput.routes`. */
  readonly routes?: Uint8Array;
}
