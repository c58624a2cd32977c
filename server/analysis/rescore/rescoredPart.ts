import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";

/** The rollouts of a step, with what they were given and are given now. */
export interface RescoredPart {
  readonly rows: readonly RolloutRow[];
  readonly columns: readonly RewardColumn[];
  readonly recorded: readonly RewardColumn[];
  /** By row, see `outcome`: as recorded, where what decides it was. */
  readonly success: Uint8Array;
  /** Terms that decide it. */
  readonly deciders: readonly string[];
  readonly now: readonly number[];
  readonly before: readonly number[];
}
