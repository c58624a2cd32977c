/**
 * What another curriculum would have drawn, had every arm been as hard as the history shows it at that time. What it
 * would have taught otherwise is not in any history: the further its draws are from those recorded, the wider the band.
 */
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import { Play } from "../simulate/simulate.ts";
import type { Group } from "../../core/rollouts.ts";
import { nameIn } from "./arms.ts";
import { Curricula, type Divisions } from "./curricula.ts";
import { ReplayFaults } from "./faults.ts";
import type { HistoryGroup } from "./read.ts";
import { believe, Recollection, type ArmObservation } from "./recollection.ts";
import { StageClock } from "./stageClock.ts";
import { mean } from "../../../shared/lib/mean.ts";

/** Mean over the replays, and the band in which eight of ten of them lie. */
export interface ReplayBand {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface WhatIfStep {
  readonly step: number;
  readonly stage: string;
  /** By arm, its share of the groups. */
  readonly shares: ByArm<ReplayBand>;
  /** By arm, rollouts that tell how hard it was near this step. */
  readonly support: ByArm<number>;
  /** Success rate of what is drawn. */
  readonly success: ReplayBand;
  /** Share of groups that admission keeps from training. */
  readonly rejected: ReplayBand;
}
type ByArm<Value> = { readonly [arm: string]: Value };

interface Replay {
  readonly stage: string;
  readonly arms: readonly string[];
  readonly groups: readonly Group[];
  readonly rejected: number;
}

/**
 * @param faults gets what a run would warn of
 * @param replays ways that things may have been
 * @throws UserError for a group of an arm that the config has not
 */
export async function whatIf(
  config: RunConfig,
  history: readonly HistoryGroup[],
  faults = new ReplayFaults(),
  replays = 20,
): Promise<WhatIfStep[]> {
  const steps = [...new Set(history.map(({ step }) => step))];
  const reach = reachOf(steps);
  const divisions: Divisions = new Map();
  const seen = seenOf(config, history, divisions);
  const all: Map<number, Replay>[] = [];
  for (let one = 0; one < replays; one++) {
    const random = randomStream(config.seed, "what-if", one);
    const recollection = new Recollection(seen, reach, random);
    all.push(await replayOnce({ config, history, divisions, steps, recollection, random, faults }));
  }
  return steps.flatMap((step): WhatIfStep[] => {
    // Of a stage whose curriculum draws nothing no replay has a step.
    const now = all.flatMap((replays) => replays.get(step) ?? []);
    const [first] = now;
    if (first === undefined) return [];
    const { stage, arms } = first;
    return [
      {
        step,
        stage,
        shares: byArm(arms, (arm) =>
          bandOf(now.map(({ groups }) => share(groups.filter((group) => group.arm === arm).length, groups))),
        ),
        support: byArm(arms, (arm) => believe(seen.get(arm) ?? [], step, reach).support),
        success: bandOf(now.map(({ groups }) => mean(groups.flatMap(rateOf)))),
        rejected: bandOf(now.map(({ groups, rejected }) => share(rejected, groups))),
      },
    ];
  });
}

const share = (count: number, of: readonly Group[]): number => (of.length === 0 ? 0 : count / of.length);
const rateOf = ({ rewards, successes }: Group): number[] =>
  rewards.length === 0 ? [] : [successes / rewards.length];
const byArm = <Value>(arms: readonly string[], of: (arm: string) => Value): ByArm<Value> =>
  Object.fromEntries(arms.map((arm) => [arm, of(arm)]));

/** Steps over which an arm's difficulty is taken to be much the same. */
const reachOf = (steps: readonly number[]): number =>
  Math.max(3, 0.1 * ((steps.at(-1) ?? 0) - (steps[0] ?? 0)));

function bandOf(values: readonly number[]): ReplayBand {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const at = (quantile: number): number => known[Math.round(quantile * (known.length - 1))] ?? Number.NaN;
  return { mean: mean(known), low: at(0.1), high: at(0.9) };
}

/** By the arm's name in the config's curriculum, what was seen of it. */
function seenOf(
  config: RunConfig,
  history: readonly HistoryGroup[],
  divisions: Divisions,
): Map<string, ArmObservation[]> {
  const curricula = new Curricula(history, config.seed, divisions);
  const clock = new StageClock(config);
  const seen = new Map<string, ArmObservation[]>();
  for (const group of history) {
    const stage = clock.at(group.step)?.stage;
    if (stage === undefined) continue;
    curricula.check(group, stage, config.stages);
    const arm = nameIn(curricula.of(stage), group, history);
    const least = stage.body.reward.success.at_least;
    const one = {
      step: group.step,
      successes: group.rewards.filter((reward) => reward >= least).length,
      rollouts: group.rewards.length,
    };
    const known = seen.get(arm);
    if (known === undefined) seen.set(arm, [one]);
    else known.push(one);
  }
  return seen;
}

interface OneReplay {
  readonly config: RunConfig;
  readonly history: readonly HistoryGroup[];
  readonly divisions: Divisions;
  readonly steps: readonly number[];
  readonly recollection: Recollection;
  readonly random: Random;
  readonly faults: ReplayFaults;
}

async function replayOnce(one: OneReplay): Promise<Map<number, Replay>> {
  const { config, history, divisions, steps, recollection, random, faults } = one;
  const curricula = new Curricula(history, config.seed, divisions);
  const clock = new StageClock(config);
  const plays = new Map<string, Play>();
  const replayed = new Map<number, Replay>();
  for (const step of steps) {
    const moment = clock.at(step);
    if (moment === undefined) continue;
    const { stage, now } = moment;
    const curriculum = curricula.of(stage);
    const play =
      plays.get(stage.name) ?? new Play(stage.body, curriculum, recollection, random.fork(stage.name));
    plays.set(stage.name, play);
    recollection.goTo(step);
    const { groups, verdicts } = await play.step(now);
    faults.saw(step, curriculum.faults());
    clock.saw(groups);
    const { arms } = curriculum;
    replayed.set(step, {
      stage: stage.name,
      arms: Array.from({ length: arms.size }, (_, arm) => arms.name(arm)),
      groups,
      rejected: verdicts.filter((verdict) => !verdict.admitted).length,
    });
  }
  return replayed;
}
