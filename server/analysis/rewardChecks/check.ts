/** The checks that an editor asks for whenever a reward is saved: quick, or left out with the reason. */
import type { GoldCount, RewardFinding } from "../../../shared/protocol/rewards.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { LoadedConfig } from "../../rules/load.ts";
import type { AnswerScorer } from "./answers.ts";
import { readTasks, spread, type CheckedTask } from "./checkedTasks.ts";
import {
  FindingPlaces,
  causeFindings,
  formatFindings,
  goldFindings,
  loadFinding,
  probeFindings,
} from "./findings.ts";
import { checkGold, goldCounts } from "./gold.ts";
import { probeReward } from "./probe.ts";
import { checkFormat } from "./format/checkFormat.ts";
import { goldLeft, standInText } from "./sentences.ts";
import { areOwn, tasksToTry, type RecordedRollouts, type TasksToTry } from "./standInTasks.ts";
import { recordedAnswers, writtenAnswers } from "./recordedProbes.ts";
import { withReturnLines } from "./returnLines.ts";

/** Seconds of an answer beyond which a reward is not checked by itself: it may ask a server that costs money. */
const slow = 0.05;
/** Answers by which that is measured, after as many that load what the function needs. */
const timed = 4;

interface CheckOptions {
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved: Readonly<Record<string, string>>;
  /** Of the last run, whose answers are changed and scored as well. */
  readonly rollouts: readonly RolloutRow[];
  /** Rollouts that lie near the config, for where its data is not here. */
  readonly near: () => RecordedRollouts | undefined;
}

type Checked =
  | { readonly kind: "findings"; readonly findings: readonly RewardFinding[] }
  /** What was not checked, and why. */
  | { readonly kind: "note"; readonly note: string };

/**
 * What is wrong comes as it is found.
 * @throws the scorer's signal's reason when it is aborted
 */
export async function* checkReward(
  config: RunConfig,
  loaded: Pick<LoadedConfig, "origins" | "tree">,
  scorer: AnswerScorer,
  { unsaved, rollouts, near }: CheckOptions,
): AsyncGenerator<Checked> {
  const places = new FindingPlaces(config.file, loaded, scorer.body);
  const { terms } = scorer.body.reward;
  const recordedHere = (): RecordedRollouts | undefined =>
    rollouts.length > 0 ? { rows: rollouts, from: "the last run" } : near();
  let tried: TasksToTry;
  let slowest: { readonly term: string; readonly seconds: number } | undefined;
  try {
    await scorer.prepareDeciding();
    tried = await tasksToTry(config, scorer, recordedHere);
    scorer.causes.know(tried.tasks);
    slowest = await slowestTerm(scorer, tried.tasks);
  } catch (error) {
    return yield { kind: "findings", findings: [loadFinding(error, terms, places)] };
  }
  const { tasks } = tried;
  for (const { term, reason, error } of scorer.skipped)
    if (error === undefined) yield { kind: "note", note: `\`${term}\`: ${reason}.` };
    else yield { kind: "findings", findings: [loadFinding(error, terms, places)] };
  for (const note of [goldLeft(tried), standInText(tried)])
    if (note !== undefined) yield { kind: "note", note };
  if (tasks.length === 0) return;
  if (slowest !== undefined && slowest.seconds > slow)
    return yield {
      kind: "note",
      note: `\`${slowest.term}\` takes ${slowest.seconds.toPrecision(2)} s an answer, so only \`gradus reward FILE --gold --probe\` tries it.`,
    };
  const recorded = await recordedAnswers(rollouts, scorer);
  const written = () => writtenAnswers(recordedHere()?.rows ?? [], scorer);
  const probed = await probeReward(config, scorer, { all: tasks, recorded, written });
  const found = await withReturnLines(config, scorer, probed.findings, { all: tasks, recorded, unsaved });
  const failing = (): RewardFinding[] => causeFindings(scorer.causes.fresh(), places);
  yield { kind: "findings", findings: [...failing(), ...probeFindings(found, places)] };
  if (!areOwn(tried)) {
    const format = await checkFormat(scorer, tasks);
    return yield { kind: "findings", findings: [...failing(), ...formatFindings(format, places)] };
  }
  const gold = await checkGold(config, scorer, tasks);
  if (gold !== undefined) yield { kind: "findings", findings: [...failing(), ...goldFindings(gold, places)] };
}

/** Reference answers that are rewarded, while somebody types: none of a function that is slow, or that cannot be loaded yet. */
export async function countGold(config: RunConfig, scorer: AnswerScorer): Promise<readonly GoldCount[]> {
  try {
    await scorer.prepareDeciding();
    const { tasks } = readTasks(config, scorer.body);
    const slowest = await slowestTerm(scorer, tasks);
    return slowest === undefined || slowest.seconds > slow ? [] : await goldCounts(scorer, tasks);
  } catch (error) {
    // Half of a line is no function.
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Undefined where there is no task to answer. */
async function slowestTerm(
  scorer: AnswerScorer,
  tasks: readonly CheckedTask[],
): Promise<{ readonly term: string; readonly seconds: number } | undefined> {
  const answers = spread(tasks, timed).map(({ task }) => ({ task, response: task.answer ?? task.prompt }));
  if (answers.length === 0) return undefined;
  await scorer.score(answers);
  const before = new Map(scorer.seconds);
  await scorer.score(answers);
  const taken = [...scorer.seconds].map(([term, seconds]) => ({
    term,
    seconds: (seconds - (before.get(term) ?? 0)) / answers.length,
  }));
  return taken.sort((one, other) => other.seconds - one.seconds)[0];
}
