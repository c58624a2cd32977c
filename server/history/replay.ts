/** A config's curriculum, told step by step what became of the groups of a recorded run. */
import { toWire, type WireNumber } from "../../shared/rollouts.ts";
import type { Curriculum } from "../algorithm.ts";
import type { RunConfig } from "../config/resolved.ts";
import type { Clock, Group } from "../seams.ts";
import { nameIn } from "./arms.ts";
import { Curricula } from "./curricula.ts";
import { ReplayFaults } from "./faults.ts";
import { HistoryGroups } from "./groups.ts";
import type { HistoryGroup } from "./read.ts";
import { StageClock } from "./stageClock.ts";

/** Where the curriculum stands behind a step's outcomes. */
export interface ReplayedStep {
  readonly step: number;
  /** By arm, what the estimator believes; null: nothing yet. */
  readonly estimates: Readonly<Record<string, WireNumber | null>>;
  /** By arm, of the next draw. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** Tasks of the groups that admission lets train. */
  readonly admitted: readonly string[];
  readonly stage: string;
}

/**
 * Groups that admission would have rejected count as observations, as they do in a run; steps of stages whose curriculum
 * draws nothing (pairs of the policy's own answers) are left out.
 * @param faults is told what a run would warn of
 * @throws UserError for a group of an arm that the config has not, or whose advantage the config cannot compute
 */
export function* replay(
  config: RunConfig,
  history: readonly HistoryGroup[],
  faults = new ReplayFaults(),
): Generator<ReplayedStep> {
  const groups = new HistoryGroups(config);
  const curricula = new Curricula(history, config.seed);
  const clock = new StageClock(config);
  for (const recorded of byStep(history)) {
    const { step } = recorded[0]!;
    const moment = clock.at(step);
    if (moment === undefined) continue;
    const { stage, now } = moment;
    const { body } = stage;
    const curriculum = curricula.of(stage);
    const armed = recorded.map((group) => ({ ...group, arm: nameIn(curriculum, group, history) }));
    for (const group of recorded) curricula.check(group, stage, config.stages);
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

/** Where rewards train, rollouts without one have no advantage. */
const rewarded = ({ rewards }: Group): boolean => rewards.length > 0;

function standing(curriculum: Curriculum, next: Clock): Pick<ReplayedStep, "estimates" | "probabilities"> {
  const { arms } = curriculum;
  const p = curriculum.probabilities(next);
  const numbers = Array.from({ length: arms.size }, (_, arm) => arm);
  return {
    estimates: Object.fromEntries(
      numbers.map((arm) => {
        const estimate = curriculum.estimate(arm);
        return [arms.name(arm), Number.isNaN(estimate) ? null : toWire(estimate)];
      }),
    ),
    probabilities: Object.fromEntries(numbers.map((arm) => [arms.name(arm), p[arm]!])),
  };
}

function byStep(history: readonly HistoryGroup[]): HistoryGroup[][] {
  const steps = new Map<number, HistoryGroup[]>();
  for (const group of history) {
    const known = steps.get(group.step);
    if (known === undefined) steps.set(group.step, [group]);
    else known.push(group);
  }
  return [...steps.values()];
}
