/** A step's updates: its own rollouts, those of earlier steps, and the losses in addition to the objective. */
import { columnOfAdvantages } from "../../../algorithm/advantages/advantageColumns.ts";
import type { UpdateStats } from "../../../core/policy.ts";
import type { Replayed, Selected, StepAdvantages, StepContext, Trained } from "../context.ts";
import { updatePolicy } from "./policyUpdates.ts";
import type { LossPart } from "./lossParts.ts";
import { measureReplay } from "../replay/measureReplay.ts";
import { joinTrainings, selectTraining, type Training } from "./training.ts";

/** The rollouts of the step that train: those that selection left out of it are not among them. */
function own({ train }: StepAdvantages, { admitted, dropped }: Selected): Training {
  if (dropped.size === 0 || train.batch.rows !== admitted.length) return train;
  return selectTraining(
    train,
    [...admitted.keys()].filter((row) => !dropped.has(admitted[row]!)),
  );
}

export async function update(
  context: StepContext,
  selected: Selected,
  advantages: StepAdvantages,
): Promise<Trained> {
  const { stage, clock } = context;
  const { replay, auxiliary } = stage;
  const { place: where, updates: rounds } = replay.config;
  const fresh = own(advantages, selected);
  await auxiliary.notice(context, selected, advantages);
  auxiliary.balance(context, selected, fresh);
  const others = auxiliary.joined(context);
  const updates: UpdateStats[] = [];
  const replayed: Replayed[] = [];
  for (let round = 0; round < rounds; round++) {
    const drawn = await replay.draw(context, { fresh: fresh.batch.rows, batch: selected.batch }, round);
    if (drawn !== undefined) replayed.push(drawn);
    if (round === 0) reportUnusable(context, drawn);
    const old = drawn?.training;
    const joint = old !== undefined && where === "joint";
    const parts = old !== undefined && where === "separate" ? [...others, replayPart(context, old)] : others;
    updates.push(
      ...(await updatePolicy(
        context,
        {
          train: {
            ...(joint ? joinTrainings([fresh, old]) : fresh),
            others: parts,
            factor: auxiliary.factor("policy"),
          },
        },
        round === 0 && !joint,
      )),
    );
    if (old !== undefined && where === "alone")
      updates.push(...(await updatePolicy(context, { train: old }, false)));
  }
  updates.push(...(await auxiliary.alone(context)));
  replay.keep(context, selected, advantages);
  auxiliary.learned(updates);
  return {
    updates,
    replayed,
    metrics: { ...measureReplay(replay, replayed, clock.step), ...auxiliary.measure() },
  };
}

/** Now and then, where rollouts were drawn of which none has an advantage: they train nothing. */
function reportUnusable({ session, step, clock }: StepContext, drawn: Replayed | undefined): void {
  if (drawn === undefined || clock.stageStep % 10 !== 0) return;
  const { rows, training } = drawn;
  if (training.advantages.exists.some((one) => one === 1)) return;
  session.recorder.event(
    "warning",
    "replay-unusable",
    `None of the ${rows.length} replayed rollouts of this step has an advantage, so they train nothing.`,
    {
      step,
      action:
        "Look at their rewards: terms that have other names, or that failed, leave a rollout without an advantage. `replay.rescore: { use: recomputed, terms: again }` scores them by the config's own terms.",
    },
  );
}

/** The objective over replayed rollouts alone. */
const replayPart = (
  { stage, clock }: StepContext,
  { batch, advantages, weights, old, scored }: Training,
): LossPart => ({
  name: "replay",
  batch,
  channels: stage.algorithm.needs(clock).channels,
  weigh: stage.algorithm.weigh(
    {
      old,
      advantages: columnOfAdvantages(advantages),
      weights,
      scored,
      routes: stage.algorithm.routes(batch, scored.success, advantages),
    },
    clock,
  ),
  weight: 1,
});
