/** What the verdict of a run is made of: plain data, of a store or of a log. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import type { RewardFailure } from "../../../shared/run/outcome.ts";
import type { GroupTally, MetricPoints } from "../evidence/record.ts";

export interface VerdictRecord {
  /** The resolved config that it began with. */
  readonly config: JsonObject;
  /** Last committed step, and the steps that are planned. */
  readonly step: number;
  readonly steps: number;
  /** Stages that have begun. */
  readonly stages: readonly { readonly step: number; readonly name: string; readonly kind: string }[];
  /** Metrics that `isRead` names, over all steps. */
  readonly series: Readonly<Record<string, MetricPoints>>;
  /** With `results`, where the log has them. */
  readonly evaluations: readonly EvaluationRow[];
  /** Names under which another trainer recorded held-out results, comparable or not. */
  readonly heldOut?: readonly string[];
  /** Of the last steps, by step and arm. */
  readonly groups: readonly GroupTally[];
  /** What reward terms failed with, the most frequent first. */
  readonly failures: readonly RewardFailure[];
  /** No step is to come: what is too early to say stays unsaid. */
  readonly ended?: boolean;
  /** Another trainer made the run. */
  readonly imported: boolean;
}

const read =
  /^(reward\/.+|critic\/advantages\/(?:max|min)$|groups\/|rollout\/(count|scored|length|truncated|unearned)$|policy\/(entropy$|kl\/)|update\/(loss|grad_norm|clip_fraction|ratio_max)$|mismatch\/k3$|tokens\/trained$|eval\/(pass@1|greedy)$)/;

/** Whether the verdict reads a metric. */
export const isRead = (metric: string): boolean => read.test(metric);
