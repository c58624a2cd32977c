/**
 * The curriculum's seams: arms × signal × estimator × sampler × admission × budget. Arms are numbers here, from 0 in
 * the order they appeared, and what is known of them stands in columns: a pool of a million tasks costs bytes, not
 * objects.
 */
import type { Scheduled } from "../schedule.ts";
import type { Column } from "../arms/column.ts";
import type { Json, JsonObject } from "../../../shared/json.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../task.ts";
import type { Knob, TaskSource } from "./tasks.ts";
import type { Arm, Clock, Stateful } from "../basics.ts";
import type { Group } from "../rollouts.ts";

/** A task source with what the config says of it. */
export interface SourceOf {
  readonly config: { readonly name: string; readonly weight: Scheduled };
  readonly source: TaskSource;
}

// ───────────────────────────────────────────────────────────────── arms

/** The arms that there are. New ones join at the end while a run goes on. */
export interface ArmSet {
  readonly size: number;
  name(arm: number): Arm;
  /** −1: none of that name. */
  find(name: Arm): number;
  /** Numbers of a few names, of arms from a number on: where an index of all names would be larger than all else. */
  numbersOf?(names: ReadonlySet<Arm>, from: number): ReadonlyMap<Arm, number>;
  /** Where an arm is one task: that task. */
  task?(arm: number): Task;
  /** Where arms are points of a box of environment parameters: its place, one number a dimension. */
  point?(arm: number): readonly number[];
  /** Where arms are points: the box. */
  readonly box?: readonly Knob[];
}

/** How tasks are divided into arms. What it saves are the arms that appeared and its sources' places. */
export interface Division extends Partial<Stateful> {
  readonly arms: ArmSet;
  /** An arm is drawn at most once a step: each is one task. */
  readonly once?: true;
  /** A task of the arm to train on; null where it has none left. */
  draw(arm: number, random: Random, clock: Clock): Task | null;
  /** −1: no arm has it. */
  armOf(task: Task): number;
  /** The task weights' share of an arm, before normalisation. */
  prior(arm: number, clock: Clock): number;
  /** Arms of one kind have one prior, whatever the clock. */
  kind?(arm: number): number;
  /** What charts and evaluations call a task's arm: the arm, or where arms are many the set that it belongs to. */
  familyOf(task: Task): Arm;
  readonly families: readonly Arm[];
  /** Where arms are points: the box, and the arm of a point, which is a new one where there was none. */
  readonly box?: readonly Knob[];
  place?(point: readonly number[]): number;
  /** Where arms are points: the arm of that name, a new one where there was none; −1: it names no point of the box. */
  named?(name: Arm): number;
  /** Takes in the tasks that sources have made since. */
  grow?(): void;
  /** Takes in tasks of its sources that a recorded run has made: each is an arm. */
  appear?(tasks: readonly Task[]): void;
  /** Whether an arm without tasks may get some yet: that it has none is no fault. */
  filling?(arm: number): boolean;
}

/** Divides the tasks of a stage. @throws UserError where a source cannot be divided so */
export type Arms = (sources: readonly SourceOf[]) => Division;

// ───────────────────────────────────────────────────────────────── signal

export interface GroupOf {
  readonly group: Group;
  readonly arm: number;
}

/** What a group says of its arm, and what makes an arm worth drawing. State is what it remembers of earlier groups. */
export interface Signal extends Partial<Stateful> {
  /**
   * A number for each rollout of the group that counts, or one for the group; empty: it says nothing. What is not finite
   * is told to the person, and not observed. Changes nothing: what is to be remembered is told to `remember` afterwards.
   * @param earlier groups of the same step that come before it
   */
  measure(group: Group, arm: number, arms: ArmSet, earlier: readonly GroupOf[]): ArrayLike<number>;
  /** Called once for each group of a step, in order, after all of them were measured. */
  remember?(group: Group, arm: number, arms: ArmSet): void;
  /** Called once a step, after all of its groups were remembered. */
  advance?(): void;
  /** What a sampler compares, of what is believed of `measure`'s mean; default: that itself. */
  score?(estimate: number): number;
}

// ───────────────────────────────────────────────────────────────── estimator

/** What a step said of one arm. */
export interface Observation {
  readonly arm: number;
  /** Mean over all the arm's rollouts of the step. */
  readonly mean: number;
  /** What the signal measured, group after group. */
  readonly values: readonly number[];
  /** Rollouts that were measured. */
  readonly rollouts: number;
}

/** A task that may be drawn, or was. */
export interface Candidate {
  readonly arm: number;
  readonly task: Task;
}

/** Rollouts that an estimator wants before the next draw: they are scored, and train nothing. */
export interface Probe {
  readonly arms: readonly number[];
  /** Rollouts of each. */
  readonly samples: number;
  /** Default: the run's own; 0: greedy. */
  readonly temperature?: number;
  /** Each arm's task is the same in every run and at every step. */
  readonly alike?: true;
}

/** What an estimator saw of arms by a model, without rolling them out. */
export interface Looked {
  readonly arms: readonly number[];
  readonly values: readonly number[];
  /** Of a step's own prompts, beside a belief that is of an earlier time. */
  readonly now: boolean;
}

/** Something worth telling that happened to a part: an event of the run. */
export interface Notice {
  /** Kind of event. */
  readonly name: string;
  readonly message: string;
  readonly data?: JsonObject;
}

export interface Estimator extends Stateful {
  /**
   * Where `advance` changes what is believed of all arms: arms that agree in these numbers are believed of alike, now and
   * until one of them is observed.
   */
  readonly alike?: readonly Column[] | undefined;
  /** Called before anything else, and again whenever arms have appeared. */
  grow?(arms: ArmSet): void;
  /** All groups of a step, before the arms are observed. */
  remember?(groups: readonly Group[]): void;
  /** One call per observed arm and step. */
  observe(seen: Observation, step: number): void;
  /** What is believed of the mean of the arm's signal; NaN: nothing is known yet. */
  estimate(arm: number): number;
  /** Standard deviation of that belief; NaN: unknown. */
  spread?(arm: number): number;
  /** A draw from that belief. */
  posterior?(arm: number, random: Random): number;
  /** Where `posterior` draws from a Beta distribution: its two shapes. */
  shapes?(arm: number): readonly [number, number];
  /** Called once a step after its observations. @returns the arms beside those observed of which it believes otherwise now */
  advance?(size: number, step: number): readonly number[] | "all";
  /** What is to be tried before the next draw. */
  probe?(arms: ArmSet, clock: Clock): Probe | undefined;
  /** What a probe found. @returns the arms beside those tried of which it believes otherwise now */
  probed?(seen: readonly Observation[], clock: Clock): readonly number[] | "all";
  /** Looks at tasks that are about to be compared, where it can tell without rolling them out. */
  foresee?(candidates: readonly Candidate[]): Promise<void>;
  /** Before a draw: looks at the arms that it has not looked at yet. @returns those */
  survey?(arms: ArmSet): Promise<readonly number[]>;
  /** After a draw: looks at what was drawn, by the models as they stand. */
  regard?(drawn: readonly Candidate[], clock: Clock): Promise<void>;
  /** What `regard` saw of an arm in this step, beside a belief that is of an earlier time. */
  present?(arm: number): number | undefined;
  /** Takes what a recorded run saw in the place of looking: of `survey`, `foresee` and `regard`. */
  recall?(looked: Looked, clock: Clock): void;
  /** Learns from the step's groups, where that takes a model. @returns metrics */
  learn?(groups: readonly Group[], clock: Clock): Promise<Readonly<Record<string, number>>>;
}

// ───────────────────────────────────────────────────────────────── sampler

/** What a sampler sees of the arms: columns by arm, `size` long. */
export interface Known {
  readonly arms: ArmSet;
  readonly size: number;
  /** The signal's score of what is believed; NaN: nothing known. */
  readonly value: Float64Array;
  /** Rollouts observed of each arm so far, rejected groups included. */
  readonly seen: Float64Array;
  /** Groups drawn of each arm so far. */
  readonly drawn: Float64Array;
  /** As `value`, of one arm, without making the column. */
  scored?(arm: number): number;
  /** Σ over all arms of `seen` and of `drawn`, where somebody has counted. */
  readonly totals?: { readonly seen: number; readonly drawn: number };
  /** Whether the arm may be drawn now. */
  open(arm: number): boolean;
  /** Where only a few may be drawn: those, some of which may not be `open`. */
  readonly only?: ReadonlySet<number>;
  /** The arms in classes of those that are alike in what the sampler reads; only where each comes at most once a step. */
  classes?(): Classes;
  /**
   * Arms of which `scored` or `seen` may have changed since this was last asked, by the one sampler that asks; "all" at
   * first. Only where each comes at most once a step and what is believed changes of few at a time.
   */
  changed?(): Iterable<number> | "all";
  /** Where all others may be drawn: those that may not. */
  readonly closed?: ReadonlySet<number>;
  /** Where a sampler ranks arms, and each comes at most once a step: those that are open, in that order. */
  inOrder?(): Iterable<number>;
  /** What is believed of the arm's signal, before its score is taken; absent: `value` is that. */
  estimate?(arm: number): number;
  /** Of estimators that look again at what was drawn: the score of an arm of this step as the models stood then. */
  present?(arm: number): number | undefined;
  /** An arm is drawn at most once a step. */
  readonly once: boolean;
  prior(arm: number): number;
  /** Of estimators that have them: the standard deviation of a belief, and a draw from it (of the estimate, not its score). */
  spread?(arm: number): number;
  posterior?(arm: number, random: Random): number;
  /** Where `posterior` draws from a Beta distribution: its two shapes. */
  shapes?(arm: number): readonly [number, number];
  /** Where arms are points. */
  readonly box?: readonly Knob[];
  place?(point: readonly number[]): number;
}

export interface Sampler extends Partial<Stateful> {
  /** By what it tells arms apart; absent: it looks at every arm, or at few. */
  readonly reads?: readonly Reading[];
  /** Where it takes arms one after the other: by which number, the smallest first; all else that it reads comes before. */
  rank?(value: number): number;
  /** A number of the sampler's own of each arm; `draw` changes those of arms that it draws. */
  own?(arm: number): number;
  /** Of the next draw; sums to 1 over the arms that are open. */
  probabilities(known: Known, clock: Clock): Float64Array;
  /** Of how many simulated draws what `probabilities` last gave is counted; 0 or absent: it is computed. */
  simulated?(): number;
  /** Arms that are about to be compared, so that the estimator can look at them first. */
  candidates?(known: Known, n: number, random: Random, clock: Clock): readonly number[];
  /**
   * `n` arms; fewer only where fewer are open.
   * @param candidates what `candidates` gave
   */
  draw(known: Known, n: number, random: Random, clock: Clock, candidates: readonly number[]): number[];
  /** Of the last draw, arm by arm, what `drew` has to be told of it beside the arm; absent: nothing. */
  notes?(): readonly Json[];
  /**
   * Arms that a recorded run has drawn, in the place of `draw`: for samplers that draws change.
   * @param notes of each arm; absent: nobody knows
   */
  drew?(arms: readonly number[], notes?: readonly Json[]): void;
  /** What came of a step, after the estimator has learned of it. */
  learn?(groups: readonly Group[], arms: readonly number[], known: Known, clock: Clock): void;
  /** What is to be tried before the next draw, so that it may choose by what the policy knows. */
  probe?(known: Known, clock: Clock): Probe | undefined;
  /** What its probe found: a group of each arm that had a task. */
  probed?(groups: readonly Group[], clock: Clock): void;
  /** What has happened since it was last asked. */
  news?(): readonly Notice[];
}

// ───────────────────────────────────────────────────────────────── admission, refill, budget

export type Verdict = { readonly admitted: true } | { readonly admitted: false; readonly reason: string };

export interface Admission extends Partial<Stateful> {
  /** Whether a group may train. Changes nothing. */
  admit(group: Group): Verdict;
  /** Where more groups are admitted than the step wants: their places, those to train first. Default: as they came. */
  prefer?(groups: readonly Group[]): readonly number[];
  /** All groups of a step, once it is done. */
  remember?(groups: readonly Group[], arms: readonly number[], clock: Clock): void;
  /** The arms that may be drawn at all; undefined: all of them. */
  left?(): ReadonlySet<number> | undefined;
  /** Rollouts that each drawn task is tried with before its group is written: the groups of tasks that fail it are not. */
  readonly screen?: {
    readonly samples: number;
    readonly temperature: number;
    admit(tried: Group): Verdict;
  };
}

/** How many more groups to ask for after rejections; 0 ends the refill. */
export interface Refill extends Partial<Stateful> {
  more(state: {
    readonly wanted: number;
    readonly admitted: number;
    readonly drawn: number;
    readonly round: number;
  }): number;
}

/** How many groups a step begins with, and how many rollouts each of them gets. */
export interface Budget extends Partial<Stateful> {
  /** Groups drawn first, where `wanted` are to train. */
  groups?(wanted: number, clock: Clock): number;
  /**
   * Rollouts of each drawn group, in their order.
   * @param group `rollout.group`
   */
  rollouts?(arms: readonly number[], group: number, known: Known, clock: Clock): readonly number[];
  /** What came of a step. */
  learn?(groups: readonly Group[], arms: readonly number[], verdicts: readonly Verdict[], clock: Clock): void;
}

/** What samplers tell arms apart by; `own`: by a column of the sampler's. */
export type Reading = "value" | "spread" | "seen" | "drawn" | "prior" | "own";

export interface Classes {
  readonly size: number;
  /** The same object as long as no arm has changed; whatever may be drawn. */
  readonly version: object;
  /** An arm of each class, which stands for all of them. */
  readonly first: Int32Array;
  /** Arms of each. */
  readonly arms: Uint32Array;
  /** Those of them that may be drawn now. */
  readonly open: Uint32Array;
  /** What is compared of each, where arms stand in its order: as it was read of them. */
  value?(): Float64Array;
  /** The arms of a class by place, in the order of their numbers. */
  member(of: number, place: number): number;
  /** Places of those of a class that may not be drawn now, rising. */
  closed(of: number): readonly number[];
}
