/** What the slots of replay are made of. */
import type { Random } from "../../lib/random.ts";

/** A rollout, or a group of them, as the rules of replay see it: of a group, means over its rollouts. */
export interface Past {
  /** The task's id. */
  readonly task: string;
  /** Combined reward as it was scored; NaN: none. */
  readonly reward: number;
  /** Mean advantage over its trained tokens, as it trained or would have; NaN: none. */
  readonly advantage: number;
  /** Share of its rollouts that succeeded; NaN: unknown. */
  readonly success: number;
  /** exp(−mean log-prob of its trained tokens under the weights that wrote them); NaN: unknown. */
  readonly perplexity: number;
  /** Tokens. */
  readonly length: number;
  /** Steps since it was written. */
  readonly age: number;
  /** How often it was drawn. */
  readonly draws: number;
  /** Selection left it out of its own step's batch. */
  readonly left: boolean;
}

/** What is kept, for how long, and where it comes from. */
export type ReplaySource =
  | { readonly kind: "none" }
  | {
      readonly kind: "window";
      /** Rollouts. */
      readonly capacity: number;
      /** Steps; undefined: no limit. */
      readonly max_age: number | undefined;
      /** Replays only when full, everything at once, and begins afresh. */
      readonly burst: boolean;
    }
  | {
      readonly kind: "file";
      readonly path: string;
      /** What becomes of rollouts of tasks that evaluation holds out. */
      readonly heldOut: "leave_out" | "train";
    }
  | {
      /** A file that others write to while the run goes on, or a folder of such files. */
      readonly kind: "log";
      readonly path: string;
      /** Rollouts. */
      readonly capacity: number;
      /** Whether its texts are read, and nothing by token. */
      readonly retokenize: boolean;
      /** Whether each step adds the run's own rollouts to it. */
      readonly publish: boolean;
      readonly heldOut: "leave_out" | "train";
    };

/** Whether a rollout is kept beyond its step. */
export type ReplayAdmission = (past: Past) => boolean;

/** What was drawn: a place in the list, and the factor on its loss that makes up for how likely the draw was. */
export interface ReplayDrawn {
  readonly index: number;
  readonly weight: number;
}
/** Draws up to `n` of the kept. `tasks`: ids of the tasks of this step. */
export type ReplayDraw = (
  kept: readonly Past[],
  n: number,
  random: Random,
  tasks: ReadonlySet<string>,
) => ReplayDrawn[];

/** Where the advantages of replayed rollouts come from. */
export type Rescore =
  | { readonly from: "recorded" }
  /** By the present config, over whole groups; `again`: the terms score again; `once`: what was computed stays. */
  | { readonly from: "recomputed"; readonly again: boolean; readonly once: boolean }
  /** Reward less a quantile of the mean rewards of recent groups. */
  | {
      readonly from: "recalibrated";
      readonly quantile: number;
      /** Groups remembered. */
      readonly window: number;
      readonly negatives: "drop" | "keep";
      readonly divide: boolean;
    };

/** A fresh rollout as selection sees it. */
export interface Candidate {
  readonly reward: number;
  readonly success: number;
  readonly length: number;
}
/** Which of a step's rollouts train. */
export interface Selection {
  /** What `choose` is given: one group at a time, or all rollouts of the step. */
  readonly over: "group" | "step";
  /** Places of those that stay. */
  choose(rows: readonly Candidate[], random: Random): readonly number[];
}
