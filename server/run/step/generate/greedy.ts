/** One greedy response per task, in addition to its group: a baseline that costs one rollout (ReMax). */
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Admitted, StepContext } from "../context.ts";
import { stepDecoding } from "./decoding.ts";
import { draftsOf } from "./generate.ts";
import { generateWith } from "./stepRollouts.ts";

/** Generates the greedy responses to the step's tasks, where the advantage asks for them. */
export async function generateGreedy(context: StepContext, { batch }: Admitted): Promise<Batch | undefined> {
  const { session, stage, step } = context;
  if (!stage.algorithm.needs(context.clock).greedy) return undefined;
  const tasks = rowsOfGroups(batch).map(([first]) => batch.records[first!]!);
  const drafts = draftsOf(tasks, 1, session.policy, ["greedy", step], "estimate", stage.config.body.rollout);
  const { temperature_at: _, ...decode } = stepDecoding(context);
  return generateWith(context, drafts, { ...decode, temperature: 0 });
}

/**
 * Every rollout with the reward of its task's greedy response.
 * @param rewards of the greedy responses; NaN where a term failed: their tasks have no baseline
 */
export function withGreedyBaseline(batch: Batch, greedy: Batch, rewards: Float64Array): Batch {
  const byGroup = new Map(greedy.records.map(({ group }, row) => [group, rewards[row]!]));
  return {
    ...batch,
    rowColumns: {
      ...batch.rowColumns,
      reward_baseline: Float64Array.from(batch.records, ({ group }) => byGroup.get(group) ?? Number.NaN),
    },
  };
}
