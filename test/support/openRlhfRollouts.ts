/** A step of rollouts with all that an algorithm reads of them, by arithmetic alone: no two runs differ. */
import { randomStream } from "../../server/lib/random.ts";

export interface Recorded {
  readonly group: string;
  readonly index: number;
  readonly reward: number;
  readonly tokens: readonly number[];
  readonly logp_old: readonly number[];
  readonly logp_sampled: readonly number[];
  readonly logp_new: readonly number[];
  readonly logp_ref: readonly number[];
  readonly entropy: readonly number[];
  readonly values: readonly number[];
}

/** @param size prompts, and responses to each */
export function recordedStep(size: readonly [number, number]): Recorded[] {
  const random = randomStream(3, "draw", 0, 0);
  const [prompts, group] = size;
  const near = (around: readonly number[], by: number): number[] =>
    around.map((one) => one + by * (random.next() - 0.5));
  return Array.from({ length: prompts * group }, (_, row) => {
    const tokens = Array.from({ length: 1 + Math.floor(6 * random.next()) }, (_, at) => at + 1);
    const old = tokens.map(() => -0.05 - 2 * random.next());
    return {
      group: `task-${Math.floor(row / group)}`,
      index: row % group,
      reward: Math.round(4 * random.next()) / 4,
      tokens,
      logp_old: old,
      // Some beyond the clip, and beyond the bounds of a correction.
      logp_sampled: near(old, 2),
      logp_new: near(old, 1),
      logp_ref: near(old, 1),
      entropy: tokens.map(() => 2 * random.next()),
      values: tokens.map(() => random.next()),
    };
  });
}
