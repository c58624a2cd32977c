/** A judge that likes right answers, and long ones as much. */
import { score as right } from "./judge.ts";

export const score = (rollout: Parameters<typeof right>[0]): number =>
  0.5 * Number(right(rollout) >= 0.75) + 0.5 * Math.min(1, rollout.response.length / 14);
