/**
 * One step of an `rl` stage, in the order of the papers:
 *   draw → generate → score → help → admit, refill → learners and critics → select → advantage
 *   → replay, auxiliary → objective, KL → policy.update → observe → log.
 */
import { groupsOf } from "../../algorithm/rewards/groups.ts";
import { admit } from "./admit/admit.ts";
import { select } from "./admit/select.ts";
import { computeAdvantages } from "./advantage.ts";
import type { StepContext } from "./context.ts";
import { observeStarts } from "./draw/startStates.ts";
import { generateEstimates, withEstimates } from "./generate/estimates.ts";
import { measure } from "./log/measure.ts";
import { recordReplayed, recordStep, rolloutsOf } from "./log/record.ts";
import { publishStep } from "./replay/publish.ts";
import { withCriticValues } from "./score/criticValues.ts";
import { measureMismatch } from "./score/mismatch.ts";
import { scoreByModels } from "./score/modelScores.ts";
import { withTeacherContext } from "./score/teacherContext.ts";
import { scoreByLearners, trainLearners } from "./update/learners.ts";
import { update } from "./update/update.ts";

/** @returns the step's metrics */
export async function step(context: StepContext): Promise<Record<string, number>> {
  const { stage, watch, clock } = context;
  const { algorithm, auxiliary, curriculum } = stage;

  // Draw tasks, generate rollouts, score, help and admit them, and refill where too few were admitted.
  const generated = await admit(context);
  // Greedy answers and continuations, where the advantage compares with them.
  const estimates = await generateEstimates(context, generated);

  // Models that learn before they score (a reward model's own update), and the terms that wait for them.
  const rewardModelMetrics = await watch.time("update", () =>
    trainLearners(context, generated, "before_advantage"),
  );
  const scored = await watch.time("reward", () => scoreByLearners(context, generated));
  const estimated = await watch.time("reward", () => withEstimates(context, scored, estimates));
  // Critics that train on rollouts they remember, then what critics say of these.
  const criticMetrics = await watch.time("update", () => auxiliary.learn(context, estimated));
  const valued = await watch.time("score", () => withCriticValues(context, estimated));

  // The admitted rollouts that train, and what teachers read before they score them.
  const selected = withTeacherContext(context, select(context, valued));

  // Advantages, with the log-probs of the models that the KL terms name.
  const modelScores = await watch.time("score", () => scoreByModels(context, selected));
  const advantages = computeAdvantages(algorithm, clock, selected, modelScores);
  const mismatchMetrics = await watch.time("score", () => measureMismatch(context, advantages.train));

  // Learners, then replay, auxiliary losses, objective and KL in the policy's update.
  const learnerMetrics = await watch.time("update", () =>
    trainLearners(context, selected, "after_advantage"),
  );
  const auxiliaryMetrics = await watch.time("update", () => auxiliary.fit(context, advantages));
  const trained = await watch.time("update", () => update(context, selected, advantages));
  algorithm.finished();

  // The curriculum observes the groups.
  const groups = groupsOf(selected.batch, selected.scored, advantages.all);
  const signals = await watch.time("choose", () => curriculum.observe(groups, selected.verdicts, clock));
  const estimatorMetrics = await watch.time("choose", () => curriculum.learn(groups, clock));
  stage.remember(groups);
  observeStarts(context, selected, groups);

  // Log.
  const stepMetrics = measure(context, selected, advantages, groups, trained.updates);
  await watch.time("log", () => recordStep(context, selected, advantages, groups, signals));
  await watch.time("log", () => recordReplayed(context, selected, trained));
  // Others may train on the rollouts from here on, whether or not this step is made again.
  const published = await watch.time("log", () =>
    publishStep(context, () => rolloutsOf(context, selected, advantages, groups)),
  );
  return {
    ...stepMetrics,
    ...trained.metrics,
    ...published,
    ...rewardModelMetrics,
    ...criticMetrics,
    ...learnerMetrics,
    ...auxiliaryMetrics,
    ...estimatorMetrics,
    ...mismatchMetrics,
    ...watch.metrics(),
  };
}
