/** The common forms of signals. */
import type { Group } from "../../../core/rollouts.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";

/** One number per rollout that counts. */
export const byRollout = (measure: (group: Group) => ArrayLike<number>): Signal => ({ measure });

/** One number per group; NaN: nothing to observe. */
export const byGroup = (measure: (group: Group) => number): Signal => ({
  measure: (group) => [measure(group)],
});

/** 1 for each success of the group, 0 for each other rollout, in their order where it is known. */
export const outcomes = ({ rewards, successes, answers }: Group): Float64Array =>
  answers === undefined
    ? new Float64Array(rewards.length).fill(1, 0, successes)
    : Float64Array.from(answers, ({ right }) => Number(right));
