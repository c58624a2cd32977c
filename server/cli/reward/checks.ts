/** `gradus reward FILE --gold`, `--probe` and `--attack`: what they print, and the exit code. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { attackReward } from "../../analysis/rewardChecks/attack.ts";
import { onDataset, readTasks, type CheckedTask } from "../../analysis/rewardChecks/checkedTasks.ts";
import { groupedBy, probeGroups } from "../../analysis/rewardChecks/findings.ts";
import { checkGold, type GoldReport } from "../../analysis/rewardChecks/gold.ts";
import { attackWithModel } from "../../analysis/rewardChecks/modelAttack.ts";
import { placeOf } from "../../analysis/rewardChecks/ownFiles.ts";
import { probeReward } from "../../analysis/rewardChecks/probe.ts";
import { recordedAnswers, writtenAnswers } from "../../analysis/rewardChecks/recordedProbes.ts";
import { placedHoles, withReturnLines } from "../../analysis/rewardChecks/returnLines.ts";
import { checkFormat } from "../../analysis/rewardChecks/format/checkFormat.ts";
import {
  areOwn,
  tasksToTry,
  type RecordedRollouts,
  type TasksToTry,
} from "../../analysis/rewardChecks/standInTasks.ts";
import { recordedNear } from "../../store/recordedNear.ts";
import { sayTasks, sayUnread } from "./tasksTried.ts";
import { saveTests } from "../../analysis/rewardChecks/saveTests.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { earnedText, goldText } from "../../analysis/rewardChecks/sentences.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { evaluationFiles } from "../../frameworks/use/asConfig/evaluationFiles.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { complain, exit, print, printJson } from "../command.ts";
import { rolloutsOf } from "../rolloutsOf.ts";
import { pathText } from "../text/diagnostics.ts";
import {
  attackText,
  causeLine,
  formatLine,
  goldLines,
  holeLine,
  moreHoles,
  moreProbes,
  ownProcessLine,
  placeText,
  probeLine,
  probeText,
} from "./rewardChecksText.ts";

export interface CheckOptions {
  readonly rollouts?: string;
  readonly gold?: boolean;
  readonly probe?: boolean;
  readonly attack?: boolean;
  readonly seconds: number;
  readonly endpoint?: string;
  readonly model?: string;
  readonly tries: number;
  readonly json?: boolean;
  readonly step?: number;
  readonly store?: string;
}

interface Checks {
  readonly config: RunConfig;
  readonly scorer: AnswerScorer;
  readonly tried: TasksToTry;
  /** Those that are tried, wherever they are from. */
  readonly tasks: readonly CheckedTask[];
  readonly json: boolean;
  /** What rows have been said to have in common: the data of evaluation has it, too. */
  readonly said: Set<string>;
}

export async function checked(config: RunConfig, options: CheckOptions): Promise<void> {
  const json = options.json === true;
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepareDeciding();
    if (options.gold === true || options.probe === true || options.attack === true)
      await check(config, scorer, options);
    // A term that fails wherever it is asked is broken: whatever else was found is no success.
    if (scorer.causes.broken.length > 0) process.exitCode = exit.failed;
    for (const { term, reason, error } of scorer.skipped) {
      if (json) printJson({ type: "left-out", term, reason });
      else complain(`${term} was left out: ${reason}`);
      if (error !== undefined) process.exitCode = exit.failed;
    }
  } finally {
    await scorer.close();
  }
}

async function check(config: RunConfig, scorer: AnswerScorer, options: CheckOptions): Promise<void> {
  const json = options.json === true;
  const rollouts = options.probe === true ? await probedRollouts(config, options) : [];
  const recordedHere = (): RecordedRollouts | undefined =>
    rollouts.length > 0 ? { rows: rollouts, from: options.rollouts ?? "" } : recordedNear(config);
  const tried = await tasksToTry(config, scorer, recordedHere);
  const { tasks } = tried;
  const checks = { config, scorer, tried, tasks, json, said: new Set<string>() };
  sayTasks(checks);
  if (options.gold === true) await gold(checks);
  if (tasks.length === 0 && tried.unread.length > 0) return;
  if (options.probe === true) await probe(checks, rollouts, recordedHere);
  if (options.attack === true) await attack(checks, options);
}

/** Each cause once: of several checks the first to meet it says it. */
function sayCauses({ config, scorer, json }: Pick<Checks, "config" | "scorer" | "json">): void {
  for (const cause of scorer.causes.fresh())
    if (json) printJson({ type: "cause", ...cause });
    else complain(causeLine(cause, () => pathText(config.file)));
}

async function gold(checks: Checks): Promise<void> {
  const { config, scorer, tasks, tried } = checks;
  sayUnread(checks);
  // What the prompts show, and what is evaluated, is checked without the data that trains.
  const own = areOwn(tried);
  if (!own) printFormat(checks, await checkFormat(scorer, tasks));
  const report = own ? await checkGold(config, scorer, tasks) : undefined;
  if (own && report === undefined)
    throw new UserError("no task has a reference answer to score", {
      file: config.file,
      code: "gold-none",
      action: 'Name it with `answer` or `solution` of the task, e.g. `answer: "{answer}"`.',
    });
  if (report !== undefined) printGold(checks, report);
  const trained = new Set(tasks.map(({ file }) => file));
  for (const data of evaluationFiles(config.file))
    if (!trained.has(resolve(dirname(config.file), data))) await goldOf(data, checks);
}

/** The rows that a script of another trainer evaluates on. @param data from the script's folder */
async function goldOf(data: string, checks: Checks): Promise<void> {
  const { config, scorer, json } = checks;
  const body = onDataset(scorer.body, data);
  if (!existsSync(resolve(dirname(config.file), data)) || body === undefined) {
    if (json) printJson({ type: "unread", data, reason: "it is not on this machine" });
    else print(`${shownPath(dirname(config.file), data)} is not checked: it is not on this machine`);
    return;
  }
  const report = await checkGold(config, scorer, readTasks(config, body).tasks);
  if (report !== undefined) printGold(checks, report, data);
  else if (!json) print(`${data} has no reference answer`);
}

function printFormat({ json, config }: Checks, format: GoldReport["format"]): void {
  for (const finding of format)
    if (json) printJson({ type: "gold-format", ...finding });
    else complain(formatLine(finding, () => pathText(config.file)));
}

/** @param data of evaluation */
function printGold(checks: Checks, report: GoldReport, data?: string): void {
  const { failures, passing: _passing, format, ...summary } = report;
  printFormat(checks, format);
  if (checks.json) {
    for (const failure of failures) printJson({ type: "gold", ...failure });
    sayCauses(checks);
    printJson({
      type: "gold-summary",
      ...(data !== undefined && { data }),
      ...summary,
      failed: failures.length,
    });
    return;
  }
  sayCauses(checks);
  goldLines(report, rewardPlace(checks), checks.said).forEach(complain);
  const ownProcess = ownProcessLine(report);
  if (ownProcess !== undefined) complain(ownProcess);
  print(`${data === undefined ? "" : `${data}: `}${goldText(report)}`);
  const earned = earnedText(report);
  if (earned !== undefined) print(visibleText(earned));
}

/** Of the term that decides what succeeds. */
function rewardPlace({ config, scorer }: Checks): string {
  const { success, terms } = scorer.body.reward;
  const term = terms.find(({ name }) => name === success.terms?.[0]) ?? terms[0];
  const place = term && placeOf(term);
  return place === undefined ? pathText(config.file) : placeText(place);
}

/**
 * @param rollouts whose answers are changed and scored as well
 * @param recordedHere those, else what lies near the config: what a hole costs
 */
async function probe(
  checks: Checks,
  rollouts: readonly RolloutRow[],
  recordedHere: () => RecordedRollouts | undefined,
): Promise<void> {
  const { config, scorer, tasks: all, json } = checks;
  const recorded = await recordedAnswers(rollouts, scorer);
  const written = () => writtenAnswers(recordedHere()?.rows ?? [], scorer);
  const report = await probeReward(config, scorer, { all, recorded, written });
  const { findings: found, ...summary } = report;
  const findings = await withReturnLines(config, scorer, found, { all, recorded });
  if (json) {
    for (const finding of findings) printJson({ type: "probe", ...finding });
    sayCauses(checks);
    printJson({ type: "probe-summary", ...summary, findings: findings.length });
  } else {
    for (const [first, ...others] of probeGroups(findings)) {
      complain(probeLine(first, () => pathText(config.file)));
      moreProbes(others).forEach(complain);
    }
    sayCauses(checks);
    print(probeText(report));
  }
  if (findings.some(({ severity }) => severity === "error")) process.exitCode = exit.failed;
}

async function attack({ config, scorer, tasks }: Checks, options: CheckOptions): Promise<void> {
  const { endpoint: url, model, tries, seconds } = options;
  const json = options.json === true;
  const { holes: found, ...summary } =
    url === undefined
      ? await attackReward(config, scorer, { seconds, tasks })
      : await attackWithModel(config, scorer, {
          url,
          ...(model !== undefined && { model }),
          seconds,
          tries,
          tasks,
        });
  const holes = await placedHoles(config, scorer, found);
  if (json)
    for (const hole of holes)
      printJson({ type: "attack", ...hole, examples: hole.examples.map(({ response }) => response) });
  else
    for (const [first, ...others] of groupedBy(holes, ({ place, pieces }) => place ?? pieces)) {
      complain(holeLine(first));
      moreHoles(others).forEach(complain);
    }
  sayCauses({ config, scorer, json });
  const saved = saveTests(config.file, scorer.body, holes);
  const file = saved === undefined || saved.added === 0 ? null : saved.file;
  if (json) printJson({ type: "attack-summary", ...summary, holes: holes.length, file });
  else print(attackText(summary, holes.length));
  if (!json && file !== null) print(`${pathText(file)} has a failing test of each: gradus test`);
  if (holes.length > 0 || (summary.failed > 0 && summary.failed === summary.answers))
    process.exitCode = exit.failed;
}

/** Those of the last step of a run, if any are named. */
async function probedRollouts(
  config: RunConfig,
  { rollouts, step, store }: CheckOptions,
): Promise<readonly RolloutRow[]> {
  if (rollouts === undefined) return [];
  return (await rolloutsOf(rollouts, config, { step, store, last: true })).map(({ row }) => row);
}
