/** Rewards fail on most rollouts: what is left decides by accident what is learned. */
import { mostRewards } from "../../../../shared/run/outcome.ts";
import type { Alarm } from "../finding.ts";

import { window } from "../trail.ts";

export const failing: Alarm = (moment) => {
  const rollouts = moment.now("rollout/count").mean;
  if (!(rollouts > 0)) return null;
  for (const term of moment.facts.terms) {
    const share = moment.now(`reward/${term}/errors`).mean / rollouts;
    if (share >= mostRewards)
      return {
        state: "failing",
        kind: "rewards",
        since: () => moment.stepAt(moment.count - window),
        term,
        certain: false,
      };
  }
  return null;
};
