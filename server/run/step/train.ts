/** A step's updates: its own rollouts, those of earlier steps, and the losses beside the objective. */
import { columnOfAdvantages } from "../../algorithm/advantages/advantageColumns.ts";
import type { UpdateStats } from "../../core/policy.ts";
import type { Collected, Place, StepAdvantages, Replayed } from "./context.ts";
import { learn } from "./learn.ts";
import type { LossPart } from "./parts.ts";
import { measureReplay } from "./replay.ts";
import { joinTrainings, selectTraining, type Training } from "./training.ts";

export interface Trained {
  readonly updates: readonly UpdateStats[];
  readonly replayed: readonly Replayed[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** The rollouts of the step that train: those that selection left out of it are not among them. */
function own({ train }: StepAdvantages, { admitted, dropped }: Collected): Training {
  if (dropped.size === 0 || train.batch.rows !== admitted.length) return train;
  return selectTraining(
    train,
    [...admitted.keys()].filter((row) => !dropped.has(admitted[row]!)),
  );
}

export async function train(
  place: Place,
  collected: Collected,
  advantages: StepAdvantages,
): Promise<Trained> {
  const { stage, clock } = place;
  const { replay, auxiliary } = stage;
  const { place: where, updates: rounds } = replay.config;
  const fresh = own(advantages, collected);
  await auxiliary.notice(place, collected, advantages);
  const beside = auxiliary.joined(place);
  const updates: UpdateStats[] = [];
  const replayed: Replayed[] = [];
  for (let round = 0; round < rounds; round++) {
    const drawn = await replay.drawn(place, { fresh: fresh.batch.rows, batch: collected.batch }, round);
    if (drawn !== undefined) replayed.push(drawn);
    if (round === 0) tellUnusable(place, drawn);
    const old = drawn?.training;
    const joint = old !== undefined && where === "joint";
    const parts = old !== undefined && where === "separate" ? [...beside, replayPart(place, old)] : beside;
    updates.push(
      ...(await learn(
        place,
        {
          train: {
            ...(joint ? joinTrainings([fresh, old]) : fresh),
            beside: parts,
            factor: auxiliary.factor("policy"),
          },
        },
        round === 0 && !joint,
      )),
    );
    if (old !== undefined && where === "alone") updates.push(...(await learn(place, { train: old }, false)));
  }
  updates.push(...(await auxiliary.alone(place)));
  replay.keep(place, collected, advantages);
  auxiliary.learned(updates);
  return {
    updates,
    replayed,
    metrics: { ...measureReplay(replay, replayed, clock.step), ...auxiliary.measure() },
  };
}

/** Now and then, where rollouts were drawn of which none has an advantage: they train nothing. */
function tellUnusable({ session, step, clock }: Place, drawn: Replayed | undefined): void {
  if (drawn === undefined || clock.stageStep % 10 !== 0) return;
  const { rows, training } = drawn;
  if (training.advantages.exists.some((one) => one === 1)) return;
  session.recorder.event(
    "warning",
    "replay-unusable",
    `None of the ${rows.length} replayed rollouts of this step has an advantage: they train nothing.`,
    {
      step,
      action:
        "Look at their rewards: terms of other names, or that failed, leave a rollout without one. `replay.rescore: { use: recomputed, terms: again }` scores them by the config's own terms.",
    },
  );
}

/** The objective over replayed rollouts alone. */
const replayPart = (
  { stage, clock }: Place,
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
