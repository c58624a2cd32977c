/**
 * One step of an `rl` stage, in the order of the papers:
 *   draw → generate → reward → admit, refill → learners → advantage → learners → objective, KL → policy.update
 *   → observe → log.
 */
import { collect, type Place } from "./collect.ts";
import { judged } from "./judged.ts";
import { advantagesOf, compare, learn } from "./learn.ts";
import { payLearned, teach } from "./learners.ts";
import { measure } from "./measure.ts";
import { mismatch } from "./mismatch.ts";
import { recordStep } from "./record.ts";

export async function step(place: Place): Promise<Record<string, number>> {
  const { stage, watch } = place;
  // draw → generate → reward → admit, refill
  const drawn = await collect(place);
  // models that learn from the batch before the terms that they pay (a reward model's own update)
  const taught = await watch.time("update", () => teach(place, drawn, "before_advantage"));
  const paid = await watch.time("reward", () => payLearned(place, drawn));
  // what critics expected
  const collected = await watch.time("score", () => judged(place, paid));
  // advantage, with the log-probs of the models that the KL terms name
  const compared = await watch.time("score", () => compare(place, collected));
  const advantages = advantagesOf(place, collected, compared);
  const sampled = await watch.time("score", () => mismatch(place, advantages.train));
  const later = await watch.time("update", () => teach(place, collected, "after_advantage"));
  // objective, KL → policy.update
  const updates = await watch.time("update", () => learn(place, advantages));
  stage.algorithm.finished();
  // observe
  const groups = stage.algorithm.groups(collected.batch, collected.scored, advantages.all);
  stage.curriculum.observe(groups, place.clock.step);
  // log
  const metrics = measure(place, collected, advantages, groups, updates);
  await watch.time("log", () => recordStep(place, collected, advantages, groups));
  return { ...metrics, ...taught, ...later, ...sampled, ...watch.metrics() };
}
