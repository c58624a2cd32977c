/** `gradus reward FILE --gold`, `--probe` and `--attack`: what they print, and the exit code. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { attackReward } from "../../analysis/rewardChecks/attack.ts";
import { checkedTasks, onDataset, type CheckedTask } from "../../analysis/rewardChecks/checkedTasks.ts";
import { groupedBy, probeGroups } from "../../analysis/rewardChecks/findings.ts";
import { checkGold, type GoldReport } from "../../analysis/rewardChecks/gold.ts";
import { attackWithModel } from "../../analysis/rewardChecks/modelAttack.ts";
import { placeOf } from "../../analysis/rewardChecks/ownFiles.ts";
import { probeReward } from "../../analysis/rewardChecks/probe.ts";
import { recordedAnswers } from "../../analysis/rewardChecks/recordedProbes.ts";
import { placedHoles, withReturnLines } from "../../analysis/rewardChecks/returnLines.ts";
import { saveTests } from "../../analysis/rewardChecks/saveTests.ts";
import { goldText } from "../../analysis/rewardChecks/sentences.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { evaluationFiles } from "../../frameworks/asConfig/evaluationFiles.ts";
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
  readonly tasks: readonly CheckedTask[];
  readonly json: boolean;
  /** What rows have been said to have in common: the data of evaluation has it, too. */
  readonly said: Set<string>;
}

export async function checked(config: RunConfig, options: CheckOptions): Promise<void> {
  const json = options.json === true;
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    if (options.gold === true || options.probe === true) {
      const checks = {
        config,
        scorer,
        tasks: checkedTasks(config, scorer.body),
        json,
        said: new Set<string>(),
      };
      if (options.gold === true) await gold(checks);
      if (options.probe === true) await probe(checks, await probedRollouts(config, options));
    }
    if (options.attack === true) await attack(config, scorer, options);
    // A term that fails wherever it is asked is broken: whatever else was found is no success.
    if (scorer.causes.broken.length > 0) process.exitCode = exit.failed;
    for (const { term, reason } of scorer.skipped) complain(`${term} was left out: ${reason}`);
  } finally {
    await scorer.close();
  }
}

/** Each cause once: of several checks the first to meet it says it. */
function sayCauses({ config, scorer, json }: Pick<Checks, "config" | "scorer" | "json">): void {
  for (const cause of scorer.causes.fresh())
    if (json) printJson({ type: "cause", ...cause });
    else complain(causeLine(cause, () => pathText(config.file)));
}

async function gold(checks: Checks): Promise<void> {
  const { config, scorer, tasks } = checks;
  const report = await checkGold(config, scorer, tasks);
  if (report === undefined)
    throw new UserError("no task has a reference answer to score", {
      file: config.file,
      code: "gold-none",
      action: 'Name it with `answer` or `solution` of the task, e.g. `answer: "{answer}"`.',
    });
  printGold(checks, report);
  const trained = new Set(tasks.map(({ file }) => file));
  for (const data of evaluationFiles(config.file))
    if (!trained.has(resolve(dirname(config.file), data))) await goldOf(data, checks);
}

/** The rows that a script of another trainer evaluates on. @param data from the script's folder */
async function goldOf(data: string, checks: Checks): Promise<void> {
  const { config, scorer, json } = checks;
  const body = onDataset(scorer.body, data);
  if (!existsSync(resolve(dirname(config.file), data)) || body === undefined) {
    if (!json) print(`${data} is not checked: it is not on this machine`);
    return;
  }
  const report = await checkGold(config, scorer, checkedTasks(config, body));
  if (report !== undefined) printGold(checks, report, data);
  else if (!json) print(`${data} has no reference answer`);
}

/** @param data of evaluation */
function printGold(checks: Checks, report: GoldReport, data?: string): void {
  const { failures, passing: _passing, format, ...summary } = report;
  if (checks.json) {
    for (const finding of format) printJson({ type: "gold-format", ...finding });
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
  for (const finding of format) complain(formatLine(finding, () => pathText(checks.config.file)));
  goldLines(report, rewardPlace(checks), checks.said).forEach(complain);
  const ownProcess = ownProcessLine(report);
  if (ownProcess !== undefined) complain(ownProcess);
  print(`${data === undefined ? "" : `${data}: `}${goldText(report)}`);
}

/** Of the term that decides what succeeds. */
function rewardPlace({ config, scorer }: Checks): string {
  const { success, terms } = scorer.body.reward;
  const term = terms.find(({ name }) => name === success.terms?.[0]) ?? terms[0];
  const place = term && placeOf(term);
  return place === undefined ? pathText(config.file) : placeText(place);
}

/** @param rollouts whose answers are changed and scored as well */
async function probe(checks: Checks, rollouts: readonly RolloutRow[]): Promise<void> {
  const { config, scorer, tasks: all, json } = checks;
  const recorded = await recordedAnswers(rollouts, scorer);
  const report = await probeReward(config, scorer, { all, recorded });
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

async function attack(config: RunConfig, scorer: AnswerScorer, options: CheckOptions): Promise<void> {
  const { endpoint: url, model, tries, seconds } = options;
  const json = options.json === true;
  const { holes: found, ...summary } =
    url === undefined
      ? await attackReward(config, scorer, { seconds })
      : await attackWithModel(config, scorer, {
          url,
          ...(model !== undefined && { model }),
          seconds,
          tries,
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
