/** From what each term says of each rollout to one number a row. Terms stay apart until the advantage. */
import type { Tokenizer, Models } from "./policy.ts";
import type { Batch } from "./rollouts.ts";
import type { Clock, Model, Level } from "./basics.ts";
import type { JudgedCriterion } from "../../shared/rollouts/criteria.ts";
import type { Prepared } from "../lib/own/prepared.ts";
import type { Components, TermValue, TextSpans } from "./slots/reward.ts";

export type { Prepared };

/** A model other than the policy that trains; `step.ts` updates learners in declared order, the policy last. */
export interface Learner {
  readonly model: Model;
  readonly when: "before_advantage" | "after_advantage";
  train(
    models: Models,
    batch: Batch,
    rewards: Rewards,
    clock: Clock,
  ): Promise<Readonly<Record<string, number>>>;
}

/** Status of a term on a row: it has a value, it does not apply, or it failed. An error is never a reward of 0. */
export const status = { value: 0, none: 1, error: 2 } as const;

/** One source of reward over a batch. Response level: one value a row; else `offsets` delimit each row's values. */
export interface RewardColumn {
  readonly name: string;
  readonly level: Level;
  /** Per row; see `status`. */
  readonly status: Uint8Array;
  /** `rows + 1`; for response level, 0, 1, 2, … */
  readonly offsets: Int32Array;
  readonly values: Float64Array;
  /** Discount of its returns to go; undefined: `advantage.gamma`. */
  readonly gamma?: number;
  /** Row → message, for rows whose status is error. */
  readonly errors: ReadonlyMap<number, string>;
  /** Row → what the term found in the response, as it was scored. */
  readonly spans?: ReadonlyMap<number, TextSpans>;
  /** Row → what the term says criterion by criterion, where it does. */
  readonly criteria?: ReadonlyMap<number, readonly JudgedCriterion[]>;
  /** Row → numbers that the term gives next to its value. */
  readonly components?: ReadonlyMap<number, Components>;
}

/** Rewards stay separate per term until the advantage slot; nothing sums them earlier. */
export interface Rewards {
  readonly terms: readonly RewardColumn[];
  /** Weight of each term at this step. */
  readonly weights: readonly number[];
}

/** What `combine` gives: weighted sources by level, and one number a row for display, success and the curriculum. */
export interface Combined {
  readonly sources: readonly RewardColumn[];
  /** Factor that each source's values already have; absent: 1. */
  readonly weights?: readonly number[];
  /** Per row; NaN where a row has no reward. */
  readonly total: Float64Array;
  /** Per row: 1 where a term of non-zero weight errored. Such a row leaves its group's mean and std and does not train. */
  readonly errored: Uint8Array;
}

export interface RewardContext {
  readonly models: Models;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /**
   * What another term gave each row of the batch: of those that the declaration `reads`; undefined: of each row the first
   * deciding term that applies to it.
   */
  readonly said?: (term: string | undefined) => readonly TermValue[];
  /** What such a term gives other rows, e.g. continuations of these. */
  readonly scores?: (term: string | undefined, batch: Batch) => Promise<readonly TermValue[]>;
}

/** Scores every row of a batch; one result a row, in order. */
export interface RewardTerm {
  /** Models that must have learned from the batch, by the terms that need none, before this term scores it. */
  readonly learners?: readonly Learner[];
  /** It reads whole episodes, whatever `attempts` says. */
  readonly whole?: true;
  score(batch: Batch, context: RewardContext): Promise<readonly TermValue[]>;
  /** Loads what the term needs, once, before the first step; throws a UserError a person can act on. */
  prepare?(): Promise<Prepared>;
  /** Ends processes the term holds. */
  close?(): Promise<void>;
}

export type Combine = (rewards: Rewards, batch: Batch) => Combined;
