/**
 * The fast contract, which a sampler may implement beyond `Sampler`. Of a million tasks most have never
 * been drawn, and many others have the same numbers: a draw then costs as much as there are different arms.
 */
import type { Json } from "../../../shared/lib/json.ts";
import type { Random } from "../../lib/random.ts";
import type { Clock } from "../basics.ts";
import type { ArmBeliefs } from "./arms.ts";
import type { Sampler } from "./curriculum.ts";

/** What a sampler distinguishes arms by; `own`: by a column of the sampler's. */
export type Reading = "estimate" | "spread" | "rollouts" | "groups" | "prior" | "own";

/** Which arms a sampler treats alike, so that they form a class. */
export interface ClassRule {
  /** The numbers it reads of an arm, those that matter most for its order first. */
  readonly reads: readonly Reading[];
  /** Where it takes arms in an order: the sort key of an estimate, the smallest first. All other readings come before. */
  rank?(estimate: number): number;
  /** The sampler's own number of each arm; `draw` changes those of arms that it draws. */
  own?(arm: number): number;
}

/** A sampler with draws of its own: fast over very many arms, or with arms of one draw that depend on each other. */
export interface FastSampler extends Sampler {
  /** The chance of each arm in the next draw: 0 for arms that are not open, sum 1. */
  probabilities(pool: ArmPool, clock: Clock): Float64Array;
  /**
   * `n` arms; fewer only where fewer are open.
   * @param candidates what `candidates` returned
   */
  draw(pool: ArmPool, n: number, random: Random, clock: Clock, candidates: readonly number[]): number[];
  /** Present: the pool gives arms as classes where each comes at most once a step. */
  readonly classes?: ClassRule;
  /** Arms that `draw` will compare, so that the estimator's model can predict them first. */
  candidates?(pool: ArmPool, n: number, random: Random, clock: Clock): readonly number[];
  /** How many simulated draws the last `probabilities` counted; 0 or absent: they were computed. */
  simulated?(): number;
  /** Where a draw changes the sampler: what a replay of a recorded run needs. */
  readonly replay?: DrawReplay;
}

export interface DrawReplay {
  /** Of the last draw, what `take` needs of each arm; absent: nothing. */
  notes?(): readonly Json[];
  /** Takes recorded draws in place of `draw`. @param notes absent: they were not recorded */
  take(arms: readonly number[], notes?: readonly Json[]): void;
}

/** The arms as a `FastSampler` sees them. The columns of `ArmBeliefs` are made when they are read; these cost less. */
export interface ArmPool extends ArmBeliefs {
  /** One number of `estimates`. */
  estimate(arm: number): number;
  /** One number of `priors`. */
  prior(arm: number): number;
  isOpen(arm: number): boolean;
  /** Σ over all arms of `rollouts` and of `groups`. */
  readonly totals: { readonly rollouts: number; readonly groups: number };
  /** Where only a few arms may be drawn: these, some of which may not be open. */
  readonly only?: ReadonlySet<number> | undefined;
  /** Where all other arms may be drawn: those that may not. */
  readonly closed?: ReadonlySet<number> | undefined;
  /** The arms in classes of the sampler's `ClassRule`. */
  classes?(): ArmClasses;
  /**
   * Arms whose `estimate` or `rollouts` may have changed since the last call; "all" at first. Only where each comes at
   * most once a step and `endStep` changes few estimates.
   */
  changed?(): Iterable<number> | "all";
  /** Open arms in the sampler's order, where its rule has a rank and each arm comes at most once a step. */
  inOrder?(): Iterable<number>;
}

export interface ArmClasses {
  readonly size: number;
  /** The same object as long as no arm has changed, whichever are open. */
  readonly version: object;
  /** One arm of each class, which represents it. */
  readonly first: Int32Array;
  /** Arms of each class. */
  readonly arms: Uint32Array;
  /** Arms of each class that may be drawn now. */
  readonly open: Uint32Array;
  /** The estimate of each class, where arms are ordered by it. */
  estimates?(): Float64Array;
  /** The arms of a class by position, in the order of their numbers. */
  member(of: number, position: number): number;
  /** Positions of the arms of a class that may not be drawn now, rising. */
  closed(of: number): readonly number[];
}
