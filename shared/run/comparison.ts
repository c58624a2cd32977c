/** Runs next to each other: what differs in them, how they went, and how sure that is. What `gradus/runs/compare` answers. */
import type { Json } from "../lib/json.ts";

/** Runs that are compared at once, at most. */
export const mostCompared = 200;

/**
 * Who wrote a value: the config's own file, an assignment (`--set`, `--seed`, `--steps`), or neither: a preset or a default.
 * `unknown`: the run has recorded no config, as one that has not started.
 */
export type WrittenBy = "file" | "set" | "default" | "unknown";

/** A key in which configs differ. `values`: an entry a run. */
export interface ConfigDifference {
  /** As a config addresses it: items of lists by their names. */
  readonly path: string;
  /** Without `value`: the run's config has no such key, or is not known. */
  readonly values: readonly { readonly value?: Json; readonly by: WrittenBy }[];
}

/** What is no part of a config and differs: a reward's text, a data file, a package, a program. */
export interface SourceDifference {
  readonly kind: "reward" | "environment" | "tool" | "data" | "package" | "program";
  /** A path from the config's folder, or a name. */
  readonly name: string;
  /** An entry a run: the first digits of a hash, or a release; null: that run has none. */
  readonly values: readonly (string | null)[];
}

export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  /** What tells it from the others: "lr 3e-6 · seed 2". */
  readonly label: string;
  readonly seed: number | null;
  /** Place in `groups`. */
  readonly group: number;
  /** Last committed step; −1 before the first. */
  readonly step: number;
  /** Whether it kept its sources: runs of earlier versions and imported ones did not. */
  readonly sources: boolean;
}

/** Runs that differ in their seed only. */
export interface ComparedGroup {
  readonly label: string;
  /** Places in `runs`. */
  readonly runs: readonly number[];
}

/** A metric of a group, step by step, as far as its shortest run goes. */
export interface GroupSeries {
  readonly group: number;
  /** Where a position holds several steps: the last. */
  readonly steps: readonly number[];
  /** Its first, where it holds several. */
  readonly begins?: readonly number[];
  /** Runs that have a value there. */
  readonly n: readonly number[];
  readonly mean: readonly (number | null)[];
  /** Standard deviation over the runs (n − 1), and standard error of the mean; null below two runs. */
  readonly spread: readonly (number | null)[];
  readonly error: readonly (number | null)[];
}
export interface ComparedSeries {
  readonly metric: string;
  readonly groups: readonly GroupSeries[];
}

/** A held-out metric of a group less that of the first group, at their last evaluations. */
export interface HeldOutDifference {
  readonly metric: string;
  readonly group: number;
  /** Of the first group. */
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  /** 95 % interval of the difference. */
  readonly low: number;
  readonly high: number;
  readonly tasks: number;
  /**
   * `paired`: tasks drawn again, each with what both groups did on it. `unpaired`: Newcombe's interval of two shares, since
   * a run has no results task by task, or they are of other tasks; wider than the paired one.
   */
  readonly method: "paired" | "unpaired";
  /** Why it is not paired. */
  readonly reason: string | null;
}

/** pass@1 of an arm at the last evaluations, over the runs of each group; null: not measured. */
export interface ArmDifference {
  readonly arm: string;
  readonly values: readonly (number | null)[];
}

export interface Comparison {
  readonly runs: readonly ComparedRun[];
  /** The first is what the others are compared with. */
  readonly groups: readonly ComparedGroup[];
  readonly sources: readonly SourceDifference[];
  /** Apart from `name` and `seed`. */
  readonly config: readonly ConfigDifference[];
  readonly series: readonly ComparedSeries[];
  readonly heldOut: readonly HeldOutDifference[];
  readonly arms: readonly ArmDifference[];
  /** What limits the comparison, in sentences. */
  readonly notes: readonly string[];
}
