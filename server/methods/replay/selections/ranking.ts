/** Rollouts in the order of their rewards; those without one come last. */
import type { Candidate } from "../../../core/slots/replay.ts";

/** Places from the best reward down; equal rewards in their own order. */
export const byReward = (rows: readonly Candidate[]): number[] =>
  [...rows.keys()].sort((a, b) => valueOf(rows[b]!) - valueOf(rows[a]!) || a - b);

const valueOf = ({ reward }: Candidate): number => (Number.isNaN(reward) ? Number.NEGATIVE_INFINITY : reward);
