/** Models that learn in addition to the policy: trained around the advantage in declared order, the policy last. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import type { Scorer } from "../../../algorithm/rewards/scoring.ts";
import type { Learner } from "../../../core/reward.ts";
import type { Admitted, StepContext } from "../context.ts";
import { selectColumn } from "../score/rewardColumns.ts";
import { rewardContext } from "../../loop/session.ts";
import type { RunModels } from "../../models/models.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";

/** Trains the learners of one moment on the admitted rows, with the rewards so far. */
export async function trainLearners(
  { session, stage, clock }: StepContext,
  { batch, scored, admitted }: Admitted,
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

/** With the rewards of the terms that waited for their learners; verdicts stay as they were. */
export async function scoreByLearners(context: StepContext, admitted: Admitted): Promise<Admitted> {
  const { session, stage, clock } = context;
  if (!stage.scorer.waits) return admitted;
  const { batch } = admitted;
  const columns = await stage.scorer.scoreLearned(
    batch,
    rewardContext(session, clock),
    admitted.scored.rewards.terms,
  );
  const scored = stage.algorithm.rewards(columns, batch, clock);
  return { ...admitted, scored, groups: groupsOf(batch, scored) };
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
        action: `Write models.${model}: { base: …, trains: true, optimizer: { use: adamw, lr: … } }; for a perceptron, write kind: mlp and inputs instead of base.`,
      },
    );
  }
}
