/** A config's curriculum, which learns step by step what became of the groups of a recorded run. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { CurriculumRecord } from "../../algorithm/curriculum/curriculumRecord.ts";
import type { Missing } from "../../algorithm/curriculum/recall.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Group } from "../../core/rollouts.ts";
import { nameIn } from "./arms.ts";
import { Curricula } from "./curricula.ts";
import { ReplayFaults } from "./faults.ts";
import { HistoryGroups } from "./groups.ts";
import type { HistoryGroup } from "./read.ts";
import { StageClock, type StageMoment } from "./stageClock.ts";
import { standing, type ReplayedStep } from "./standing.ts";

/**
 * Groups that admission would have rejected count as observations, as they do in a run; steps of stages whose curriculum
 * draws nothing are left out, and so are pairs of the policy's own answers where the run did not record their stage.
 * @param faults gets what a run would warn of
 * @param curricula those that go through it
 * @throws UserError for a group of an arm that the config has not, or whose advantage the config cannot compute; where the history
 * lacks what the estimator measures in addition to the groups
 */
export function* replay(
  config: RunConfig,
  history: readonly HistoryGroup[],
  faults = new ReplayFaults(),
  curricula = new Curricula(history, config.seed),
): Generator<ReplayedStep> {
  const groups = new HistoryGroups(config);
  const clock = new StageClock(config);
  for (const recorded of byStep(history)) {
    const { step } = recorded[0]!;
    const record = recorded.find((group) => group.curriculum !== undefined)?.curriculum;
    const moment = momentOf(config, record, clock, step);
    if (moment === undefined) continue;
    const { stage, now } = moment;
    const { body } = stage;
    const curriculum = curricula.of(stage);
    const missing = curriculum.recall(
      record?.told,
      () => recorded.map((group) => curriculum.armNamed(nameIn(curriculum, group, history))),
      now,
    );
    if (missing !== undefined) throw lacking(missing, body, recorded[0]!);
    const armed = recorded.map((group) => ({ ...group, arm: nameIn(curriculum, group, history) }));
    for (const group of recorded) curricula.check(group, stage, config.stages);
    // Points of a box that were never drawn are new arms.
    for (const { arm } of armed) curriculum.armNamed(arm);
    const seen = groups.of(armed);
    const verdicts = seen.map((group) => curriculum.admit(group));
    curriculum.observe(seen, verdicts, now);
    faults.saw(step, curriculum.faults());
    clock.saw(seen);
    yield {
      step,
      ...standing(curriculum, { step: now.step + 1, stageStep: now.stageStep + 1 }),
      admitted: seen.flatMap((group, i) =>
        verdicts[i]!.admitted && (rewarded(group) || body.reward.terms.length === 0) ? [group.task.id] : [],
      ),
      stage: stage.name,
    };
  }
}

/**
 * The stage and clock of a step, as the run recorded them where the config has such a stage; undefined: the
 * step is of one that draws nothing.
 */
function momentOf(
  { stages }: RunConfig,
  record: CurriculumRecord | undefined,
  clock: StageClock,
  step: number,
): StageMoment | undefined {
  const stage = stages.find(({ name }) => name === record?.stage);
  if (stage === undefined || record === undefined) return clock.at(step);
  return { stage, now: { step: record.clock.step, stageStep: record.clock.stage_step } };
}

const needs = {
  pilots: "measures with pilot rollouts",
  predictions: "reads from prompts with a model",
} as const;

function lacking(missing: Missing, { curriculum }: StageBody, { step, place }: HistoryGroup): UserError {
  const { name } = curriculum.estimator.declaration;
  return new UserError(
    `the history lacks what \`estimator: ${name}\` ${needs[missing]} (step ${step}), so its estimates would all be unknown`,
    {
      ...place,
      character: 0,
      code: "history-lacks",
      action:
        "Export a run of this config again (`gradus runs export RUN --to history`): runs of this version record what it needs. Or choose an estimator that learns from groups alone, or try the config with `--simulate`.",
    },
  );
}

/** Where rewards train, rollouts without one have no advantage. */
const rewarded = ({ rewards }: Group): boolean => rewards.length > 0;

function byStep(history: readonly HistoryGroup[]): HistoryGroup[][] {
  const steps = new Map<number, HistoryGroup[]>();
  for (const group of history) {
    const known = steps.get(group.step);
    if (known === undefined) steps.set(group.step, [group]);
    else known.push(group);
  }
  return [...steps.values()];
}
