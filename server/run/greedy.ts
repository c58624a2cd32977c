/** One greedy response a task, beside its group: a baseline that costs one rollout (ReMax). */
import type { Batch } from "../seams.ts";
import { decodeOptions, type Place } from "./collect.ts";
import { draftsOf, rollOut, type Place as TaskPlace } from "./generate.ts";

/**
 * Writes and pays the greedy responses, where the advantage asks for them, and gives every rollout the reward of its
 * task's. They are rollouts of use `estimate`: they train nothing and are not kept. A failed term leaves none.
 */
export async function withGreedyBaseline(
  place: Place,
  tasks: readonly TaskPlace[],
  batch: Batch,
): Promise<Batch> {
  const { session, stage, clock, step, watch } = place;
  const { algorithm, scorer } = stage;
  if (!algorithm.greedy) return batch;
  const { rollout } = stage.config.body;
  const drafts = draftsOf(tasks, 1, session.policy, ["greedy", step], "estimate", rollout);
  const { temperature_at: _, ...decode } = decodeOptions(place);
  const written = await watch.time("generate", () =>
    rollOut(session.policy, drafts, { ...decode, temperature: 0 }, session.interrupted),
  );
  const masked = algorithm.masked(written);
  const context = {
    models: session.models,
    tokenizer: session.policy.tokenizer,
    clock,
    signal: session.signal,
  };
  const columns = await watch.time("reward", () => scorer.scorePlain(masked, context));
  const { total, errored } = algorithm.rewards(columns, masked, clock).combined;
  const byGroup = new Map(
    masked.records.map(({ group }, row) => [group, errored[row] === 1 ? Number.NaN : total[row]!]),
  );
  return {
    ...batch,
    rowColumns: {
      ...batch.rowColumns,
      reward_baseline: Float64Array.from(batch.records, ({ group }) => byGroup.get(group) ?? Number.NaN),
    },
  };
}
