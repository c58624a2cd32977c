/** What baselines and scales work on: the rewards of a batch cut into units, each of which gets one advantage. */
import type { Moments } from "../../lib/moments.ts";
import type { Clock, Model, Stateful } from "../basics.ts";
import type { Batch } from "../rollouts.ts";
import type { Channel, Stats } from "../policy.ts";

/** The unit that baseline and scale see: a whole response, or a part of it. */
export const advantageLevels = ["response", "turn", "step", "segment", "token"] as const;
export type AdvantageLevel = (typeof advantageLevels)[number];

/** Parts of rows, in order. Unit `u` is of row `row[u]`; row `i` has the units `offsets[i] … offsets[i + 1]`. */
export interface Units {
  readonly level: AdvantageLevel;
  readonly count: number;
  readonly row: Int32Array;
  readonly offsets: Int32Array;
  /** The tokens that take the unit's advantage: [start, end) of the batch's token columns. */
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** The unit's first token that trains: where a critic's value of the unit is. `start` where none trains. */
  readonly first: Int32Array;
  /** The units are the batch's tokens, one by one: their columns are columns of tokens. */
  readonly everyToken?: true;
}

export interface AdvantageInput {
  readonly units: Units;
  /** Per unit: what it earned, or with `returns: before` what it and those after it did. NaN: the row has no reward. */
  readonly rewards: Float64Array;
  /** A row's units are summed once they are centred (`returns: after`): a response's one reference is taken off once. */
  readonly summed?: boolean;
  /** Those of a row's units from the beginning of an array, which the next call may overwrite: no column is made. */
  readonly rewardsOf?: (row: number) => Float64Array;
  /** Where all values that a baseline finds are to be summed: it may do so while they are near. */
  readonly moments?: Moments;
  /** Per row: its whole reward, rollouts of use `estimate` included; NaN where it has none. */
  readonly totals: Float64Array;
  /** Of each group, the rows that train and have a reward. */
  readonly groups: readonly Int32Array[];
  readonly batch: Batch;
  /** Channels that were scored: heads, and log-probs of generation. */
  readonly stats: Stats;
  readonly clock: Clock;
  readonly gamma: number;
  /** Whether untrained tokens between two that train count in discounts. */
  readonly observations: "skip" | "discount";
  /** A place for so many numbers of a result, by its name; their values are undefined. */
  readonly column: (name: "advantages" | "returns", size: number) => Float64Array;
}

/** A channel that has to be scored before the advantages: a value head of a model, or what its distribution is like. */
export interface AdvantageChannel {
  readonly model: Model;
  readonly channel: Channel;
}

/** From rewards to centred rewards; everything is per unit, NaN where a unit has no advantage. */
export interface AdvantageBaseline extends Partial<Stateful> {
  /** The unit it is made for, where the config leaves that open; default: response. */
  readonly level?: AdvantageLevel;
  /** `own`: it discounts and sums what comes later by itself. */
  readonly returns?: "own";
  readonly channels?: readonly AdvantageChannel[];
  /** Whether the run has to write one greedy response a task, and score it. */
  readonly greedy?: boolean;
  /** The run has to generate and score `k` continuations from the beginning of each step; `split` ends one. */
  readonly branches?: { readonly k: number; readonly split: string };
  /** In an array of its own, or in the input's `column`. */
  centre(input: AdvantageInput): Float64Array;
  /** `centre`, and what a value head should have said of each unit, NaN where that is unknown. */
  centreWithTargets?(input: AdvantageInput): {
    readonly centred: Float64Array;
    readonly targets: Float64Array;
  };
  /** Learns from a step's rewards, once, after its advantages were computed. */
  observe?(totals: Float64Array, batch: Batch): void;
}

/** Divides centred rewards by a spread, in another array or in theirs; units without an advantage stay NaN. */
export type AdvantageScale = (centred: Float64Array, input: AdvantageInput) => Float64Array;
