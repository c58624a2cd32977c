import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";

/**
 * Imported rollouts for a config: where none of its terms is a reward of theirs, `reward` alone counts. Another trainer's
 * names mean nothing to a config that the rollouts were not imported with.
 */
export function wholeRewards(config: RunConfig, rows: readonly RolloutRow[]): readonly RolloutRow[] {
  const terms = new Set(config.stages.flatMap(({ body }) => body.reward.terms.map(({ name }) => name)));
  if (rows.some(({ rewards = {} }) => Object.keys(rewards).some((name) => terms.has(name)))) return rows;
  return rows.map(({ rewards: _, ...row }) => row);
}
