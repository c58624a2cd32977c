/** Which lines and branches of a reward's files the rollouts of a run reach. Lines and characters count from 0. */
import type { ScoredSteps } from "./rescore.ts";

export const branchKinds = ["if", "conditional", "for", "while"] as const;
export type BranchKind = (typeof branchKinds)[number];
/** `body`: the loop is entered; `end`: it is left at its end. */
export const branchExits = ["then", "else", "body", "end"] as const;
export type BranchExit = (typeof branchExits)[number];

/** A line of a function on which a statement begins. What runs when the file is loaded is left out. */
export interface LineCoverage {
  readonly line: number;
  /** How many reached it. */
  readonly rollouts: number;
}

/** One way on from a condition or a loop. */
export interface BranchCoverage {
  readonly line: number;
  readonly character: number;
  readonly kind: BranchKind;
  readonly exit: BranchExit;
  /** How many took it. */
  readonly rollouts: number;
}

export interface FileCoverage {
  /** Absolute path. */
  readonly file: string;
  /** How many were scored by a function that reads this file. */
  readonly rollouts: number;
  /** Ascending. */
  readonly lines: readonly LineCoverage[];
  readonly branches: readonly BranchCoverage[];
}

/** Over the rollouts of a run, the newest first as far as time allows. */
export interface RewardCoverage extends ScoredSteps {
  readonly rollouts: number;
  readonly files: readonly FileCoverage[];
  /** Terms that could not be scored, and why; terms that failed, and where first. */
  readonly notes: readonly string[];
  readonly milliseconds: number;
}
