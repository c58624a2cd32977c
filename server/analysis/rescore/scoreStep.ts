/** Scores a step's rollouts: combined rewards and advantages by a stage's config. */
import { UserError } from "../../../shared/lib/errors.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { rowAdvantage } from "../explain/rowAdvantage.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";
import type { RewardColumn } from "../../core/reward.ts";
import type { StepScores } from "./compare.ts";
import { noModels } from "./noModels.ts";

export interface ScoredStep extends StepScores {
  /** Why there are no advantages, where there are none. */
  readonly note: string | undefined;
}

export function scoreStep(
  body: StageBody,
  clock: Clock,
  columns: readonly RewardColumn[],
  unmasked: Batch,
  stats: Stats,
): ScoredStep {
  const algorithm = new Algorithm(
    body,
    contextOf(body, { random: keyedRandom("rescore"), models: noModels }),
  );
  const batch = algorithm.masked(unmasked);
  const { combined } = algorithm.rewards(columns, batch, clock);
  const totals = combined.total.map((total, row) => (combined.errored[row] === 1 ? Number.NaN : total));
  const none = (note: string): ScoredStep => ({
    columns,
    totals,
    advantages: new Float64Array(batch.rows).fill(Number.NaN),
    note,
  });
  if (algorithm.takesRecorded)
    return none("The config uses recorded advantages, which do not depend on rewards.");
  try {
    const advantages = algorithm.advantages(combined, batch, stats, clock);
    return {
      columns,
      totals,
      advantages: Float64Array.from({ length: batch.rows }, (_, row) => rowAdvantage(advantages, batch, row)),
      note: undefined,
    };
  } catch (error) {
    if (error instanceof UserError) return none(`Advantages cannot be computed: ${error.message}.`);
    throw error;
  }
}
