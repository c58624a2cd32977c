import type { Group } from "../../../core/rollouts.ts";
import type { Admission, Verdict } from "../../../core/slots/curriculum.ts";

export const yes: Verdict = { admitted: true };
export const no = (reason: string): Verdict => ({ admitted: false, reason });
export const unscored = no("no rollout of the group has a reward");

/** An admission of single groups; groups without any reward do not train. */
export const eachGroup = (admit: (group: Group) => Verdict): Admission => ({
  admit: (group) => (group.rewards.length === 0 ? unscored : admit(group)),
});
