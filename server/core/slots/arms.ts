/** Arms, and the beliefs about them. */
import type { Random } from "../../lib/random.ts";
import type { Arm } from "../basics.ts";
import type { Task } from "../task.ts";
import type { Knob } from "./tasks.ts";

/** The arms. New ones are added at the end during a run. */
export interface ArmSet {
  readonly size: number;
  name(arm: number): Arm;
  /** −1: no arm has that name. */
  find(name: Arm): number;
  /** The arms of a few names, among those from a number on. For pools where an index of all names takes too much memory. */
  numbersOf?(names: ReadonlySet<Arm>, from: number): ReadonlyMap<Arm, number>;
  /** The arm's task, where each arm is one task. */
  task?(arm: number): Task;
  /** Where arms are points of a box of environment parameters: the arm's point, one number a dimension. */
  point?(arm: number): readonly number[];
  /** Where arms are points: the box. */
  readonly box?: readonly Knob[];
  /** Where arms are points: the arm of a point, added if it is new. */
  place?(point: readonly number[]): number;
}

/** How uncertain estimates are. */
export interface Posterior {
  /** Standard deviation of the estimate; NaN: unknown. */
  spread(arm: number): number;
  /** A value drawn from the posterior. */
  draw(arm: number, random: Random): number;
  /** Where the posterior is a Beta distribution: its two parameters. */
  shapes?(arm: number): readonly [alpha: number, beta: number];
}

/** What a sampler knows of the arms. Every column has `size` numbers, one an arm. */
export interface ArmBeliefs {
  readonly arms: ArmSet;
  readonly size: number;
  /** The signal's score of each arm's estimate; NaN: nothing is known. */
  readonly estimates: Float64Array;
  /** Rollouts observed so far, rejected groups included. */
  readonly rollouts: Float64Array;
  /** Groups drawn so far. */
  readonly groups: Float64Array;
  /** Task weights, not normalised. */
  readonly priors: Float64Array;
  /** 1: the arm may be drawn now, else 0. */
  readonly open: Uint8Array;
  /** Each arm is one task, drawn at most once a step. */
  readonly once: boolean;
  /** Of the estimates before they are scored, where the estimator has one. */
  readonly posterior?: Posterior | undefined;
}

/** A number of each arm. */
export interface ArmColumn {
  get(arm: number): number;
}

/** How an estimator's step changes its estimates, so that not all of a million arms are looked at again. */
export interface FastEstimates {
  /**
   * What `endStep` changes. "observed": only estimates of arms that were observed in the step. Columns: all estimates may
   * change, but arms that agree in these columns have the same estimate until one of them is observed.
   */
  readonly changes: "observed" | readonly ArmColumn[];
}
