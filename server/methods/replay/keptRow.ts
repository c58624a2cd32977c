/** A rollout as replay keeps it. */
import type { Batch } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";

/** One kept rollout. */
export interface KeptRow {
  /** Of one row. */
  readonly batch: Batch;
  /** Step over all rl stages at which it was written. */
  readonly step: number;
  /** Rollouts that were written together have the same. */
  readonly group: string;
  /** Each term's value of it; columns of one row. */
  readonly terms: readonly RewardColumn[];
  /** Combined; NaN: none. */
  readonly reward: number;
  /** 1, 0, or 2 where unknown. */
  readonly success: number;
  /** Per token; NaN where it has none. */
  advantages: Float64Array;
  /** They were computed again, and stay. */
  settled?: boolean;
  /** Left out of its own step's batch. */
  readonly left: boolean;
  draws: number;
}
