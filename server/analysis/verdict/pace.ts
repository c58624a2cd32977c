/** How long a run's steps take by its own clock, and how long nothing is written before that means something. */
import { median } from "../evidence/numbers.ts";

/** Milliseconds. */
export interface Pace {
  /** Between two steps that were written. */
  readonly usual: number;
  readonly longest: number;
}

const minute = 60_000;
/** Steps' times, and the least wait, that count as standing still: an evaluation may take some. */
const [patience, least] = [10, 5 * minute];
/** After so long a folder that is watched counts as complete, where nothing says what is to come. */
const [rested, unpaced] = [10 * minute, 120 * minute];

/**
 * @param times when steps were written, in milliseconds: the trainer's times or the files', never those of reading them
 * @param clocks what the trainer says that a step took, in milliseconds
 * @returns null: neither says anything
 */
export function paceOf(times: readonly number[], clocks: readonly number[] = []): Pace | null {
  const sorted = [...times].sort((one, other) => one - other);
  // Equal times are those of one file with many steps.
  const gaps = sorted
    .slice(1)
    .map((time, i) => time - sorted[i]!)
    .filter((gap) => gap > 0);
  const told = clocks.filter((clock) => Number.isFinite(clock) && clock > 0);
  const all = [...gaps, ...told];
  if (all.length === 0) return null;
  // A copied folder has the times of copying; a trainer may write every tenth step.
  const usual = Math.max(...[gaps, told].map((some) => (some.length === 0 ? 0 : median(some))));
  return { usual, longest: all.reduce((most, one) => Math.max(most, one)) };
}

/** How long nothing may come before a run that goes on stands still. */
export const stillAfter = ({ usual }: Pace): number => Math.max(patience * usual, least);

/** How long nothing may come before a folder counts as complete. It has shown how long an evaluation takes. */
export const completeAfter = (pace: Pace | null): number =>
  pace === null ? unpaced : Math.max(rested, patience * pace.usual, Math.min(3 * pace.longest, unpaced));

/** How long a plan that is not reached may wait for its next step. */
export const abandonedAfter = (pace: Pace | null): number =>
  Math.max(unpaced, pace === null ? 0 : 2 * stillAfter(pace));
