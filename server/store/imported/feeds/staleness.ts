import { mean } from "../../../../shared/lib/mean.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";

/**
 * By how many updates the weights that train are newer than those that began each rollout, as metrics of the step; none where
 * that was not recorded.
 * @param trained number of the weights that train
 */
export function stalenessOf(rows: readonly RolloutRow[], trained: number): Record<string, number> {
  const updates = rows.flatMap(({ policy, use }) =>
    policy === undefined || use !== "train" ? [] : [Math.max(0, trained - policy.start)],
  );
  return updates.length === 0
    ? {}
    : {
        "rollout/staleness": mean(updates),
        "rollout/staleness/max": updates.reduce((most, one) => Math.max(most, one)),
      };
}
