/**
 * The curriculum's contracts: arms × signal × estimator × sampler × admission × budget. An arm is a number, from 0 in
 * the order of appearance. Beliefs about arms are columns, one number an arm.
 */
import type { Scheduled } from "../schedule.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../task.ts";
import type { TaskSource } from "./tasks.ts";
import type { Arm, Clock, Stateful } from "../basics.ts";
import type { Group } from "../rollouts.ts";
import type { ArmBeliefs, ArmSet, FastEstimates, Posterior } from "./arms.ts";

/** A task source and its place in the config. */
export interface SourceOf {
  readonly config: { readonly name: string; readonly weight: Scheduled };
  readonly source: TaskSource;
}

// ───────────────────────────────────────────────────────────────── arms

/** How tasks are divided into arms. Its state is the arms that have been added. */
export interface Division extends Partial<Stateful> {
  readonly arms: ArmSet;
  /** Each arm is one task, drawn at most once a step. */
  readonly once?: true;
  /** A training task of the arm; null: it has none left. */
  draw(arm: number, random: Random, clock: Clock): Task | null;
  /** −1: the task belongs to no arm. */
  armOf(task: Task): number;
  /** The arm's task weight, not normalised. */
  prior(arm: number, clock: Clock): number;
  /** Arms of one kind have the same prior at any clock. */
  kind?(arm: number): number;
  /** The name for a task's arm in charts and evaluations: the arm, or the set it belongs to where arms are many. */
  familyOf(task: Task): Arm;
  readonly families: readonly Arm[];
  /** Where arms are points: the arm of that name, added if it is new; −1: the name is not a point of the box. */
  named?(name: Arm): number;
  /** Adds arms for tasks that the sources have made since the last call. */
  grow?(): void;
  /** Adds an arm for each of these tasks, which a recorded run has made. */
  appear?(tasks: readonly Task[]): void;
  /** Whether an arm without tasks may still get some; then its lack is not a fault. */
  filling?(arm: number): boolean;
}

/** Divides the tasks of a stage into arms. @throws UserError for a source that cannot be divided this way */
export type Arms = (sources: readonly SourceOf[]) => Division;

// ───────────────────────────────────────────────────────────────── signal

export interface GroupOf {
  readonly group: Group;
  readonly arm: number;
}

/** Measures a group, and scores how much an arm is worth drawing. Its state is its memory of earlier groups. */
export interface Signal extends Partial<Stateful> {
  /**
   * One number per rollout that counts, or one for the group; empty: nothing to observe. Numbers that are not finite are
   * reported and not observed. Has no side effects: `remember` is called afterwards.
   * @param earlier groups of the same step that come before this one
   */
  measure(group: Group, arm: number, arms: ArmSet, earlier: readonly GroupOf[]): ArrayLike<number>;
  /** Called once for each group of a step, in order, after all of them were measured. */
  remember?(group: Group, arm: number, arms: ArmSet): void;
  /** Called once a step, after all of its groups were remembered. */
  endStep?(): void;
  /** What samplers compare, from the estimated mean of `measure`; default: the estimate itself. */
  score?(estimate: number): number;
}

// ───────────────────────────────────────────────────────────────── estimator

/** What a step showed of one arm. */
export interface Observation {
  readonly arm: number;
  /** Mean of the signal over all the arm's rollouts of the step. */
  readonly mean: number;
  /** What the signal measured, group after group. */
  readonly values: readonly number[];
  /** Number of rollouts measured. */
  readonly rollouts: number;
}

/** Estimates the mean of each arm's signal. This is all that a simple estimator needs. */
export interface Estimator extends Stateful {
  /** Called first, and again whenever arms have been added. */
  addArms?(arms: ArmSet): void;
  /** Called once per observed arm and step. Without `endStep` it changes the estimate of that arm alone. */
  observe(observation: Observation, step: number): void;
  /** The mean of the arm's signal; NaN: nothing is known yet. */
  estimate(arm: number): number;
  /** Called once a step, after its observations. It may change the estimates of all arms. */
  endStep?(): void;
}

/** What an estimator can do beyond its contract: each is independent of the others. */
export interface EstimatorExtensions {
  readonly posterior?: Posterior;
  /** Pilot rollouts before a draw, and their observations. */
  readonly pilots?: Pilots<ArmSet, Observation>;
  /** Predictions by a model. */
  readonly model?: PromptModel;
  readonly fast?: FastEstimates;
}

/** Rollouts that measure arms before the next draw, and train nothing. */
export interface PilotRollouts {
  readonly arms: readonly number[];
  /** Rollouts per arm. */
  readonly samples: number;
  /** Default: the run's own; 0: greedy. */
  readonly temperature?: number;
  /** Each arm's task is the same in every run and at every step. */
  readonly sameTasks?: true;
}

/** Asks for pilot rollouts and takes their results. */
export interface Pilots<View, Result> {
  /** The next pilot rollouts; undefined: none are wanted. Called again after each. */
  next(view: View, clock: Clock): PilotRollouts | undefined;
  /** Results of the last pilot rollouts; arms without a task have none. */
  observe(results: readonly Result[], clock: Clock): void;
}

/** A task that may be drawn, or was. */
export interface Candidate {
  readonly arm: number;
  readonly task: Task;
}

/** Predictions that a recorded run's model made. */
export interface Predictions {
  readonly arms: readonly number[];
  readonly values: readonly number[];
  /** Made by `predictDrawn`, for the step alone. */
  readonly now: boolean;
}

/** Estimates by a model that reads prompts, without rollouts. */
export interface PromptModel {
  /** Before a draw: predicts all arms that have no prediction. @returns those arms */
  predictNew?(arms: ArmSet): Promise<readonly number[]>;
  /** Predicts the tasks that a sampler is about to compare. */
  predict?(candidates: readonly Candidate[]): Promise<void>;
  /** After a draw: predicts the drawn tasks with the model's current weights. */
  predictDrawn?(drawn: readonly Candidate[], clock: Clock): Promise<void>;
  /** What `predictDrawn` predicted of an arm in this step. */
  current?(arm: number): number | undefined;
  /** Takes recorded predictions in place of its own. */
  restore(predictions: Predictions, clock: Clock): void;
  /** All groups of a step, before their arms are observed. */
  observeGroups?(groups: readonly Group[]): void;
  /** Trains the model on the step's groups. @returns metrics */
  train?(groups: readonly Group[], clock: Clock): Promise<Readonly<Record<string, number>>>;
}

// ───────────────────────────────────────────────────────────────── sampler

/** A group of a finished step. */
export interface Outcome extends GroupOf {
  /** The signal's score of the arm's estimate: of this step's prediction where there is one, else after the step. */
  readonly estimate: number;
}

/** Chooses between arms. This is all that a simple sampler needs; `FastSampler` is the contract for very many arms. */
export interface Sampler extends Partial<Stateful> {
  /**
   * The chance of each arm in the next draw. Arms that are not open, and the sum, need no care: closed arms get 0 and the
   * others are scaled to a sum of 1. Where arms come at most once a step it is asked again after each arm.
   */
  probabilities(beliefs: ArmBeliefs, clock: Clock): ArrayLike<number>;
  /** Called after each step, when the estimator has observed it. */
  learn?(outcomes: readonly Outcome[], beliefs: ArmBeliefs, clock: Clock): void;
}

/** What a sampler can do beyond its contract: each is independent of the others. */
export interface SamplerExtensions {
  /** Pilot rollouts before a draw, and their groups. */
  readonly pilots?: Pilots<ArmBeliefs, Group>;
  /** Events of the run since the last call. */
  events?(): readonly CurriculumEvent[];
}

/** Something that happened to a part, as an event of the run. */
export interface CurriculumEvent {
  readonly name: string;
  readonly message: string;
  readonly data?: JsonObject;
}

// ───────────────────────────────────────────────────────────────── admission, refill, budget

export type Verdict = { readonly admitted: true } | { readonly admitted: false; readonly reason: string };

export interface Admission extends Partial<Stateful> {
  /** Whether a group may train. Has no side effects. */
  admit(group: Group): Verdict;
  /** Order of preference, as indices, where more groups are admitted than the step wants. Default: as they came. */
  prefer?(groups: readonly Group[]): readonly number[];
  /** Called with all groups of a finished step. */
  remember?(groups: readonly Group[], arms: readonly number[], clock: Clock): void;
  /** The arms that may still be drawn; undefined: all. */
  left?(): ReadonlySet<number> | undefined;
  /** Rollouts of each drawn task before its group is generated; only tasks whose screening is admitted get a group. */
  readonly screen?: {
    readonly samples: number;
    readonly temperature: number;
    admit(screened: Group): Verdict;
  };
}

/** How many more groups to draw after rejections; 0 ends the refill. */
export interface Refill extends Partial<Stateful> {
  more(state: {
    readonly wanted: number;
    readonly admitted: number;
    readonly drawn: number;
    readonly round: number;
  }): number;
}

/** What a group has so far. */
export interface Grown {
  readonly rollouts: number;
  /** In how many lots they were generated. */
  readonly lots: number;
  /** `rollout.group`. */
  readonly size: number;
}

/** How many groups a step starts with, and how many rollouts each gets. */
export interface Budget extends Partial<Stateful> {
  /** Groups to draw first when `wanted` are to train. */
  groups?(wanted: number, clock: Clock): number;
  /**
   * Rollouts of each drawn group, in order.
   * @param group `rollout.group`
   * @param estimate the estimator's, of an arm
   */
  rollouts?(arms: readonly number[], group: number, estimate: (arm: number) => number): readonly number[];
  /** How many more rollouts a group gets by what those so far earned, asked after each lot of them; 0: none. */
  more?(group: Group, so: Grown): number;
  /** Called after each step. */
  learn?(groups: readonly Group[], arms: readonly number[], verdicts: readonly Verdict[], clock: Clock): void;
}
