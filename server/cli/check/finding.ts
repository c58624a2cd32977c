/** What `gradus check` adds up: findings of configurations, of rewards and of logs, each with its place. */
import type { Severity } from "../../config/check/diagnostic.ts";

export interface Finding {
  /** As the person would write it from here. */
  readonly file: string;
  /** Of a notebook, from 1; `line` is then the cell's. */
  readonly cell?: number;
  /** From 1; absent: the whole file. */
  readonly line?: number;
  readonly severity: Severity;
  /** Who says so: a rule of `validate`, the reward on reference and wrong answers, or the verdict on a log. */
  readonly by: "validate" | "reward" | "log";
  readonly rule?: string;
  readonly message: string;
}

export interface Sum {
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Configurations, launch scripts and notebooks that were checked. */
  readonly projects: readonly string[];
  readonly logs: readonly string[];
  /** Files that no rule has read, by their trainer. */
  readonly unchecked: readonly { readonly trainer: string; readonly files: readonly string[] }[];
  /** Sentences of what was not tried, with what would try it. */
  readonly left: readonly string[];
}

const ranks: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };
/** Of equal severity: what a training came to, what a reward pays, what a key says. */
const orders: Readonly<Record<Finding["by"], number>> = { log: 0, reward: 1, validate: 2 };

/** Worst first; of the same kind in the order of the files and their lines. */
export const worstFirst = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    (a, b) =>
      ranks[a.severity] - ranks[b.severity] ||
      orders[a.by] - orders[b.by] ||
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      (a.cell ?? 0) - (b.cell ?? 0) ||
      (a.line ?? 0) - (b.line ?? 0),
  );
