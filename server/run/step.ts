/**
 * One step of an `rl` stage, in the order of the papers:
 *   draw → generate → reward → admit, refill → learners → select → advantage → learners → replay, auxiliary
 *   → objective, KL → policy.update → observe → log.
 */
import { collect, type Place } from "./collect.ts";
import { judged } from "./judged.ts";
import { advantagesOf, compare } from "./learn.ts";
import { payLearned, teach } from "./learners.ts";
import { measure } from "./measure.ts";
import { mismatch } from "./mismatch.ts";
import { recordReplayed, recordStep } from "./record.ts";
import { select } from "./select.ts";
import { train } from "./train.ts";

export async function step(place: Place): Promise<Record<string, number>> {
  const { stage, watch } = place;
  // draw → generate → reward → admit, refill
  const drawn = await collect(place);
  // models that learn from the batch before the terms that they pay (a reward model's own update)
  const taught = await watch.time("update", () => teach(place, drawn, "before_advantage"));
  const paid = await watch.time("reward", () => payLearned(place, drawn));
  // what critics expected; of the admitted rollouts, those that are to train
  const collected = select(place, await watch.time("score", () => judged(place, paid)));
  // advantage, with the log-probs of the models that the KL terms name
  const compared = await watch.time("score", () => compare(place, collected));
  const advantages = advantagesOf(place, collected, compared);
  const sampled = await watch.time("score", () => mismatch(place, advantages.train));
  const later = await watch.time("update", () => teach(place, collected, "after_advantage"));
  // replay, auxiliary → objective, KL → policy.update
  const trained = await watch.time("update", () => train(place, collected, advantages));
  stage.algorithm.finished();
  // observe
  const groups = stage.algorithm.groups(collected.batch, collected.scored, advantages.all);
  stage.curriculum.observe(groups, place.clock.step);
  // log
  const metrics = measure(place, collected, advantages, groups, trained.updates);
  await watch.time("log", () => recordStep(place, collected, advantages, groups));
  await watch.time("log", () => recordReplayed(place, collected, trained));
  return { ...metrics, ...trained.metrics, ...taught, ...later, ...sampled, ...watch.metrics() };
}
