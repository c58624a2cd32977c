import type { Verdict } from "../seams.ts";

export const yes: Verdict = { admitted: true };
export const no = (reason: string): Verdict => ({ admitted: false, reason });
export const unscored = no("no rollout of the group has a reward");
