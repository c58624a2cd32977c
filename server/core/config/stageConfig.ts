/** A stage as the run reads it. */
import type { StageKind } from "../../../shared/stageKinds.ts";
import type { Condition, StageBody } from "./resolved.ts";

/** When a stage ends before its steps. A condition that stands alone is one of `any`. */
export interface Until {
  readonly of: "any" | "all";
  readonly conditions: readonly Condition[];
}

/** Weights that a merge reads. */
export type MergeSource =
  | { readonly kind: "stage" | "snapshot"; readonly name: string }
  | { readonly kind: "checkpoint"; readonly path: string }
  | { readonly kind: "model"; readonly name: "policy" | "reference" };

export interface MergePart {
  readonly source: MergeSource;
  readonly weight: number;
}

/** Tasks of earlier stages among the prompts of this one. */
export interface CarryOver {
  readonly from: "all" | "previous";
  readonly share: number;
  readonly weight: "inverse_success" | "inverse_reward" | "uniform";
  readonly below: number;
  readonly floor: number;
  readonly unsolved: "keep" | "leave_out";
  readonly capacity: number;
}

export interface OnEnter {
  readonly refreshReference: boolean;
  readonly resetOptimizer: boolean;
  /** Copies that begin anew. */
  readonly models: readonly string[];
  readonly snapshot: string | undefined;
  readonly merge: readonly MergePart[];
  readonly carryOver: CarryOver | undefined;
}

/** How the stage passes over from the one before it. */
export interface Crossfade {
  readonly over: number;
  readonly shape: "linear" | "cosine";
  readonly tasks: boolean;
  readonly rewards: boolean;
}

/** So many steps in a row of another stage, by its place in the list. */
export interface Turn {
  readonly stage: number;
  readonly steps: number;
}

export interface StageConfig {
  readonly name: string;
  readonly kind: StageKind;
  /** At most; of a stage that others alternate, all its turns together. */
  readonly steps: number;
  readonly until: Until | undefined;
  readonly on_enter: OnEnter;
  readonly body: StageBody;
  /** sft, pretrain: sequences a step; preference, reward_model: pairs a step. */
  readonly batch: number;
  readonly pairs: "dataset" | "rollouts";
  /** reward_model: the model whose head learns. */
  readonly trains: string | undefined;
  /** merge: what of. */
  readonly merge: readonly MergePart[];
  readonly crossfade: Crossfade | undefined;
  /** alternate: whose turns they are. */
  readonly turns: readonly Turn[];
  /** Whether it runs only in the turns that another stage gives it. */
  readonly part: boolean;
}
