/** Forms that most signals have. */
import type { Group } from "../../../core/rollouts.ts";
import type { Signal } from "../../../core/slots/curriculum.ts";

/** A number for each rollout that counts. */
export const byRollout = (measure: (group: Group) => ArrayLike<number>): Signal => ({ measure });

/** One number for the group; NaN: it says nothing. */
export const byGroup = (measure: (group: Group) => number): Signal => ({
  measure: (group) => [measure(group)],
});

/** 1 for each success of the group, 0 for each other rollout, in their order as far as it is known. */
export const outcomes = ({ rewards, successes, answers }: Group): Float64Array =>
  answers === undefined
    ? new Float64Array(rewards.length).fill(1, 0, successes)
    : Float64Array.from(answers, ({ right }) => Number(right));
