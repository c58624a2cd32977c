/** Models that learn beside the policy: called around the advantage in declared order, the policy's own update last. */
import { UserError } from "../../../shared/errors.ts";
import { selectRows } from "../../core/rows/batch.ts";
import type { Scorer } from "../../algorithm/rewards/scoring.ts";
import type { Learner } from "../../core/reward.ts";
import type { Collected, Place } from "./context.ts";
import { selectColumn } from "./columns.ts";
import { rewardContext } from "../loop/session.ts";
import type { RunModels } from "../models/models.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";

/** Lets the learners of one moment train on the admitted rows, with what the terms have paid so far. */
export async function teach(
  { session, stage, clock }: Place,
  { batch, scored, admitted }: Collected,
  when: Learner["when"],
): Promise<Record<string, number>> {
  const learners = stage.scorer.learners.filter((learner) => learner.when === when);
  if (learners.length === 0 || admitted.length === 0) return {};
  const rows = selectRows(batch, admitted);
  const rewards = {
    ...scored.rewards,
    terms: scored.rewards.terms.map((term) => selectColumn(term, admitted)),
  };
  const metrics: Record<string, number> = {};
  for (const learner of learners) {
    session.signal.throwIfAborted();
    const own = await learner.train(session.models, rows, rewards, clock);
    for (const [name, value] of Object.entries(own)) metrics[`learner/${learner.model}/${name}`] = value;
  }
  return metrics;
}

/** The rewards once the terms that waited for their learners have paid, too; verdicts stay as they were. */
export async function payLearned(place: Place, collected: Collected): Promise<Collected> {
  const { session, stage, clock } = place;
  if (!stage.scorer.waits) return collected;
  const { batch } = collected;
  const context = rewardContext(session, clock);
  const columns = await stage.scorer.scoreLearned(batch, context, collected.scored.rewards.terms);
  const scored = stage.algorithm.rewards(columns, batch, clock);
  return { ...collected, scored, groups: groupsOf(batch, scored) };
}

/** @throws UserError where a term's learner names a model that is not there or does not train */
export function checkLearners(scorers: readonly Scorer[], models: RunModels): void {
  for (const { model } of scorers.flatMap(({ learners }) => learners)) {
    if (models.trains(model)) continue;
    const known = models.names.includes(model);
    throw new UserError(
      `A reward term trains the model ${model}, which ${known ? "is frozen" : "the config does not have"}.`,
      {
        code: known ? "model-frozen" : "model-unknown",
        action: `Write models.${model}: { base: …, trains: true, optimizer: { use: adamw, lr: … } }; for a perceptron, kind: mlp and inputs in the place of base.`,
      },
    );
  }
}
