/**
 * One step of an `rl` stage, in the order of the papers:
 *   draw → begin → generate → reward → help → admit, refill → estimate → learners, critics → select → advantage
 *   → learners → replay, auxiliary → objective, KL → policy.update → observe → log.
 */
import { observeStarts } from "./draw/begin.ts";
import type { Place } from "./context.ts";
import { collect } from "./collect.ts";
import { withEstimates, writeEstimates } from "./estimates.ts";
import { judged } from "./judged.ts";
import { advantagesOf } from "./advantages.ts";
import { compare } from "./learn.ts";
import { payLearned, teach } from "./learners.ts";
import { measure } from "./log/measure.ts";
import { mismatch } from "./mismatch.ts";
import { recordReplayed, recordStep } from "./log/record.ts";
import { withShown } from "./shown.ts";
import { select } from "./select.ts";
import { train } from "./train.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";

export async function step(place: Place): Promise<Record<string, number>> {
  const { stage, watch } = place;
  // draw → generate → reward → admit, refill
  const drawn = await collect(place);
  // greedy answers and continuations, where the advantage compares with them
  const estimates = await writeEstimates(place, drawn);
  // models that learn from the batch before the terms that they pay (a reward model's own update)
  const taught = await watch.time("update", () => teach(place, drawn, "before_advantage"));
  const learned = await watch.time("reward", () => payLearned(place, drawn));
  const paid = await watch.time("reward", () => withEstimates(place, learned, estimates));
  // critics with a memory of their own
  const critics = await watch.time("update", () => stage.auxiliary.learn(place, paid));
  // what critics expected; of the admitted rollouts, those that are to train; what teachers are shown
  const collected = withShown(place, select(place, await watch.time("score", () => judged(place, paid))));
  // advantage, with the log-probs of the models that the KL terms name
  const compared = await watch.time("score", () => compare(place, collected));
  const advantages = advantagesOf(stage.algorithm, place.clock, collected, compared);
  const sampled = await watch.time("score", () => mismatch(place, advantages.train));
  const later = await watch.time("update", () => teach(place, collected, "after_advantage"));
  const fitted = await watch.time("update", () => stage.auxiliary.fit(place, advantages));
  // replay, auxiliary → objective, KL → policy.update
  const trained = await watch.time("update", () => train(place, collected, advantages));
  stage.algorithm.finished();
  // observe
  const groups = groupsOf(collected.batch, collected.scored, advantages.all);
  const signals = await watch.time("choose", () =>
    stage.curriculum.observe(groups, collected.verdicts, place.clock),
  );
  const foretold = await watch.time("choose", () => stage.curriculum.learn(groups, place.clock));
  stage.remember(groups);
  observeStarts(place, collected, groups);
  // log
  const metrics = measure(place, collected, advantages, groups, trained.updates);
  await watch.time("log", () => recordStep(place, collected, advantages, groups, signals));
  await watch.time("log", () => recordReplayed(place, collected, trained));
  const learnt = { ...taught, ...critics, ...later, ...fitted, ...foretold };
  return { ...metrics, ...trained.metrics, ...learnt, ...sampled, ...watch.metrics() };
}
