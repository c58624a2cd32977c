/**
 * The update rule of an optimiser, apart from what all optimisers share (warm-up, clipping, one program for many
 * weights: see ../optimizer.ts). A rule is arithmetic on one weight, written once against the operations.
 */
import type { Named, Ops } from "../ops.ts";

/** One weight in one update. */
export interface Moving<T> {
  readonly weight: T;
  /** ∂loss/∂weight, clipped. */
  readonly gradient: T;
  /** What the rule keeps of this weight, by the names of `UpdateRule.state`. */
  readonly state: Named<T>;
  /** `UpdateRule.scalars`, as values of rank 0. */
  readonly scalars: Named<T>;
  readonly extents: readonly number[];
  /** Whether weight decay applies: to matrices, not to gains and biases. */
  readonly decays: boolean;
}
export interface Moved<T> {
  readonly weight: T;
  readonly state: Named<T>;
}

export interface UpdateRule {
  /** The method and every switch that changes its program or its state: rules of one key share both. */
  readonly key: string;
  /** Extents of what is kept for a weight, by name; it begins as zeros. Their size is the optimiser's memory. */
  state(extents: readonly number[]): Named<readonly number[]>;
  /**
   * Numbers that every weight's update uses.
   * @param update counts from 1 since the optimiser began or was reset
   * @param lr the learning rate of this update, warm-up and schedule included
   */
  scalars(update: number, lr: number): Named<number>;
  /** The learning rate before warm-up and schedule, where the method sets its own. */
  lr?(update: number): number;
  move<T>(ops: Ops<T>, moving: Moving<T>): Moved<T>;
}

/** from + (1 − β)·(to − from), written so that β of `from` stays: the running mean β·from + (1 − β)·to. */
export const towards = <T>(ops: Ops<T>, from: T, to: T, beta: T): T =>
  ops.add(to, ops.mul(beta, ops.sub(from, to)));

/** Decoupled decay: w·(1 − η·λ), for a scalar that holds the factor. */
export const decayed = <T>(ops: Ops<T>, weight: T, keep: T, decays: boolean): T =>
  decays ? ops.mul(weight, keep) : weight;

/** What the engine needs to know of an optimiser. Made by a declaration's `create` only. */
export interface OptimizerChoice {
  readonly name: string;
  readonly lr: number;
  readonly weight_decay: number;
  readonly warmup: number;
  readonly clip_norm: number | null;
  readonly clip_value: number | null;
  readonly rule: UpdateRule;
}
