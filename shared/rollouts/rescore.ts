/** What an edit of a reward would have changed, over the rollouts that the last run recorded. */
import type { MaybeNumber } from "./rollouts.ts";

export interface BeforeNow {
  readonly before: MaybeNumber;
  readonly now: MaybeNumber;
}
interface TermChange extends BeforeNow {
  readonly term: string;
  /** Rollouts whose value is another. */
  readonly changed: number;
  readonly errors: number;
}
/** Counts over the rollouts that were scored again. */
export interface RewardChange {
  readonly rollouts: number;
  readonly groups: number;
  /** Mean combined reward of the rollouts that have one both times; where none has, of those that have one. */
  readonly mean: BeforeNow;
  /** Rollouts on which a term fails now; absent: none. */
  readonly failed?: number;
  /** Pairs of siblings of which the other one is better now, and the number of pairs. */
  readonly rankFlips: number;
  readonly pairs: number;
  /** Rollouts that were pushed up and are pushed down now, or the other way round, of so many with an advantage. */
  readonly signFlips: number;
  readonly signed: number;
  /** Groups whose rewards differ now and did not, and the other way round. */
  readonly gained: number;
  readonly lost: number;
  readonly terms: readonly TermChange[];
}
export interface ChangedRollout {
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly arm: string;
  readonly prompt: string;
  readonly response: string;
  readonly reward: BeforeNow;
  readonly advantage: BeforeNow;
  readonly terms: readonly ({ readonly term: string } & BeforeNow)[];
  readonly errors: Readonly<Record<string, string>>;
}

/** The part of a run that was scored again. */
export interface ScoredSteps {
  readonly run: string;
  readonly name: string;
  /** First and last step, and how many; the run has `of` of them. */
  readonly from: number;
  readonly to: number;
  readonly steps: number;
  readonly of: number;
}

export interface Rescored extends ScoredSteps {
  readonly change: RewardChange;
  /** Those that changed most, most first: by advantage, then by reward. */
  readonly most: readonly ChangedRollout[];
  /** What could not be scored again, and why: its recorded values are kept. */
  readonly notes: readonly string[];
  readonly milliseconds: number;
}

export interface SweepPoint {
  readonly weight: number;
  /** The term's part of what tells siblings apart: its weighted spread within groups over that of all terms, 0 to 1. */
  readonly share: number;
  readonly rankFlips: number;
  readonly signFlips: number;
  readonly gained: number;
  readonly lost: number;
}
export interface Sweep {
  readonly run: string;
  readonly term: string;
  /** The weight that the config has now, at the last step. */
  readonly weight: number;
  readonly points: readonly SweepPoint[];
  readonly rollouts: number;
  readonly signed: number;
  readonly pairs: number;
  /** First and last step of the sample; it is spread over the whole run. */
  readonly from: number;
  readonly to: number;
  /** How many steps were looked at, of so many with rollouts; a daemon of an earlier version does not tell. */
  readonly steps?: number;
  readonly of?: number;
  readonly notes: readonly string[];
  /** The same as a picture: an SVG document. */
  readonly picture: string;
}

/** How many of the most changed rollouts are listed. */
export const mostChanged = 5;
