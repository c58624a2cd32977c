/** What a store knows of a config file's last run: plain data, made in the store's thread, read by the kinds of evidence. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { RewardFailure } from "../../../shared/run/outcome.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import type { EvaluationRow, RunSummary } from "../../../shared/protocol/protocol.ts";

/** Steps ascending; NaN where a step has no number. */
export interface MetricPoints {
  readonly steps: Float64Array;
  readonly values: Float64Array;
}

/** Groups of one step and arm with one verdict. */
export interface GroupTally {
  readonly step: number;
  readonly arm: string;
  readonly admitted: boolean;
  /** Why the curriculum rejected them. */
  readonly reason: string | null;
  readonly groups: number;
  readonly successes: number;
  readonly rollouts: number;
}

/** Whether a term distinguished rollouts of a group in one step. */
export interface TermSpread {
  readonly term: string;
  readonly step: number;
  /** Groups in which at least two rollouts have a value of the term. */
  readonly groups: number;
  /** Those in which these values differ. */
  readonly varying: number;
}

export interface RunRecord {
  readonly summary: RunSummary;
  /** `runs/<id>` */
  readonly folder: string;
  /** The config as its author wrote it. */
  readonly authored: string;
  /** The resolved config that it began with. */
  readonly config: JsonObject;
  readonly stages: readonly { readonly step: number; readonly name: string; readonly kind: string }[];
  /** SHA-256 of each user reward's bundle, by term. */
  readonly bundles: Readonly<Record<string, string>>;
  readonly series: Readonly<Record<string, MetricPoints>>;
  readonly groups: readonly GroupTally[];
  readonly spread: readonly TermSpread[];
  readonly evaluations: readonly EvaluationRow[];
  /** What reward terms failed with, the most frequent first. */
  readonly failures: readonly RewardFailure[];
  /** Whether it learns; null before its first training step. */
  readonly verdict: Verdict | null;
}

/** Steps that are looked back on: of metrics, and of groups. */
export const longest = { metrics: 5_000, groups: 500 } as const;
