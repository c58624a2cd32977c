import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { randomStream } from "../../lib/random.ts";
import type { Command as Program } from "commander";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { attackReward } from "../../analysis/rewardChecks/attack.ts";
import { attackWithModel } from "../../analysis/rewardChecks/modelAttack.ts";
import { saveTests } from "../../analysis/rewardChecks/saveTests.ts";
import { groupedBy, probeGroups } from "../../analysis/rewardChecks/findings.ts";
import { goldText } from "../../analysis/rewardChecks/sentences.ts";
import { whole } from "../options.ts";
import { placedHoles, withReturnLines } from "../../analysis/rewardChecks/returnLines.ts";
import { checkGold, type GoldReport } from "../../analysis/rewardChecks/gold.ts";
import { checkedTasks, onDataset, type CheckedTask } from "../../analysis/rewardChecks/checkedTasks.ts";
import { probeReward } from "../../analysis/rewardChecks/probe.ts";
import { recordedAnswers } from "../../analysis/rewardChecks/recordedProbes.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { Rescoring, type Rescored } from "../../analysis/rescore/rescore.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { complain, exit, print, printJson, type Command } from "../command.ts";
import { collect, pathText } from "../text/diagnostics.ts";
import {
  attackFailure,
  attackText,
  goldLine,
  holeLine,
  moreHoles,
  moreProbes,
  ownProcessLine,
  probeLine,
  probeText,
} from "./rewardChecksText.ts";
import { evaluationFiles } from "../../frameworks/asConfig/evaluationFiles.ts";
import { ChangedRollouts, rolloutLines, summaryLines } from "./rescoredText.ts";
import { whyUntried } from "../../frameworks/asConfig/untried.ts";
import { engineKeys } from "../../frameworks/export/engineKeys.ts";
import { loadedOrComplain } from "../loadOrComplain.ts";
import { candidateSetting, nameOf } from "./candidates.ts";
import { preferenceLines } from "./preferenceText.ts";
import { printCoverage } from "./coverage.ts";
import { serveUntilStopped } from "./serve.ts";
import { rolloutsOf, withRollouts } from "../rolloutsOf.ts";

interface FailedTerm {
  readonly term: string;
  readonly asked: number;
  readonly failed: number;
  readonly what: string;
}

interface Options {
  readonly rollouts?: string;
  readonly coverage?: boolean;
  readonly candidate: readonly string[];
  readonly all?: boolean;
  readonly gold?: boolean;
  readonly probe?: boolean;
  readonly attack?: boolean;
  readonly serve?: boolean;
  readonly port: number;
  readonly key?: string;
  readonly seconds: number;
  readonly endpoint?: string;
  readonly model?: string;
  readonly tries: number;
  readonly set: string[];
  readonly json?: boolean;
  readonly step?: number;
  readonly store?: string;
}

/** A term that fails wherever it is asked is broken: whatever else was found is no success. */
function failedOnAll({ term, asked, failed, what }: FailedTerm): void {
  if (asked === 0 || failed < asked) return;
  complain(visibleText(`\`${term}\` failed on all ${asked} ${what}`));
  process.exitCode = exit.failed;
}

async function rescored(config: RunConfig, rollouts: string, options: Options): Promise<void> {
  const { step, store, json, all } = options;
  const changed = new ChangedRollouts();
  const say = (scored: Rescored): void => {
    if (json === true) printJson(scored);
    else if (scored.type === "summary")
      for (const line of [...changed.lines, ...summaryLines(scored), ...preferenceLines(scored.preference)])
        print(line);
    else if (all === true) for (const line of rolloutLines(scored)) print(line);
    else changed.add(scored);
  };
  const tried = new Set(options.candidate.map(nameOf));
  const rescoring = new Rescoring(config, randomStream(config.seed, "rescore"), tried);
  try {
    // A run's rollouts come step by step: all of a long run do not fit in memory.
    await withRollouts(rollouts, config, { step, store }, async (rows) => {
      for await (const scored of rescoring.rollouts(rows)) say(scored);
    });
    const { summary } = rescoring;
    say(summary);
    for (const note of rescoring.notes) complain(note);
    const { successes, rewards } = summary.preference;
    if (tried.size > 0 && rewards.length === 0)
      complain(
        `no candidate can be ranked: ${successes === 0 ? "no rollout succeeds" : "every rollout succeeds"}. Name rollouts of which some succeed and some fail.`,
      );
    for (const [term, { asked, errors }] of Object.entries(summary.terms))
      failedOnAll({ term, asked, failed: errors, what: "rollouts" });
  } finally {
    await rescoring.close();
  }
}

/** What `--gold` and `--probe` work on. */
interface Checks {
  readonly config: RunConfig;
  readonly scorer: AnswerScorer;
  readonly tasks: readonly CheckedTask[];
  readonly json: boolean;
}

/** Rows that a terminal lists of those whose reference answer fails. */
const listed = 20;

async function gold({ config, scorer, tasks, json }: Checks): Promise<void> {
  const report = await checkGold(config, scorer, tasks);
  if (report === undefined)
    throw new UserError("no task has a reference answer to score", {
      file: config.file,
      code: "gold-none",
      action: 'Name it with `answer` or `solution` of the task, e.g. `answer: "{answer}"`.',
    });
  printGold(report, json);
  for (const data of evaluationFiles(config.file)) await goldOf(data, config, scorer, json);
}

/** The rows that a script of another trainer evaluates on. @param data from the script's folder */
async function goldOf(data: string, config: RunConfig, scorer: AnswerScorer, json: boolean): Promise<void> {
  const body = onDataset(scorer.body, data);
  if (!existsSync(resolve(dirname(config.file), data)) || body === undefined) {
    if (!json) print(`${data} is not checked: it is not on this machine`);
    return;
  }
  const report = await checkGold(config, scorer, checkedTasks(config, body));
  if (report !== undefined) printGold(report, json, data);
  else if (!json) print(`${data} has no reference answer`);
}

/** @param data of evaluation */
function printGold({ failures, ...summary }: GoldReport, json: boolean, data?: string): void {
  if (json) {
    for (const failure of failures) printJson({ type: "gold", ...failure });
    printJson({
      type: "gold-summary",
      ...(data !== undefined && { data }),
      ...summary,
      failed: failures.length,
    });
    return;
  }
  for (const failure of failures.slice(0, listed)) complain(goldLine(failure));
  if (failures.length > listed) complain(`… and ${failures.length - listed} more: --json lists them all`);
  const ownProcess = ownProcessLine(summary);
  if (ownProcess !== undefined) complain(ownProcess);
  print(`${data === undefined ? "" : `${data}: `}${goldText({ failures, ...summary })}`);
}

/** @param rollouts whose answers are changed and scored as well */
async function probe(
  { config, scorer, tasks: all, json }: Checks,
  rollouts: readonly RolloutRow[],
): Promise<void> {
  const recorded = await recordedAnswers(rollouts, scorer);
  const report = await probeReward(config, scorer, { all, recorded });
  const { findings: found, ...summary } = report;
  const findings = await withReturnLines(config, scorer, found, { all, recorded });
  if (json) {
    for (const finding of findings) printJson({ type: "probe", ...finding });
    printJson({ type: "probe-summary", ...summary, findings: findings.length });
  } else {
    for (const [first, ...others] of probeGroups(findings)) {
      complain(probeLine(first, () => pathText(config.file)));
      moreProbes(others).forEach(complain);
    }
    print(probeText(report));
  }
  if (findings.some(({ severity }) => severity === "error")) process.exitCode = exit.failed;
}

async function attack(config: RunConfig, scorer: AnswerScorer, options: Options): Promise<void> {
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
  const saved = saveTests(config.file, scorer.body, holes);
  const file = saved === undefined || saved.added === 0 ? null : saved.file;
  if (json) printJson({ type: "attack-summary", ...summary, holes: holes.length, file });
  else {
    const failure = attackFailure(summary);
    if (failure !== undefined) complain(failure);
    print(attackText(summary, holes.length));
  }
  if (!json && file !== null) print(`${pathText(file)} has a failing test of each: gradus test`);
  if (holes.length > 0 || (summary.failed > 0 && summary.failed === summary.answers))
    process.exitCode = exit.failed;
}

/** Those of the last step of a run, if any are named. */
async function probedRollouts(
  config: RunConfig,
  { rollouts, step, store }: Options,
): Promise<readonly RolloutRow[]> {
  if (rollouts === undefined) return [];
  return (await rolloutsOf(rollouts, config, { step, store, last: true })).map(({ row }) => row);
}

async function checked(config: RunConfig, options: Options): Promise<void> {
  const json = options.json === true;
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    if (options.gold === true || options.probe === true) {
      const checks = { config, scorer, tasks: checkedTasks(config, scorer.body), json };
      if (options.gold === true) await gold(checks);
      if (options.probe === true) await probe(checks, await probedRollouts(config, options));
    }
    if (options.attack === true) await attack(config, scorer, options);
    for (const [term, { asked, failed, message }] of scorer.asked)
      failedOnAll({ term, asked, failed, what: `answers: ${message}` });
    for (const { term, reason } of scorer.skipped) complain(`${term} was left out: ${reason}`);
  } finally {
    await scorer.close();
  }
}

async function run(file: string, options: Options, program: Program): Promise<void> {
  const { rollouts, gold: asksGold, probe: asksProbe, candidate } = options;
  const draws = asksGold === true || asksProbe === true || options.attack === true;
  if (rollouts === undefined && options.coverage === true)
    program.error("error: --coverage needs --rollouts", { exitCode: exit.usage });
  if (rollouts === undefined && !draws && options.serve !== true)
    program.error("error: say what to score: --rollouts FILE, --gold, --probe or --attack, or --serve", {
      exitCode: exit.usage,
    });
  if (rollouts === undefined && candidate.length > 0)
    program.error("error: --candidate needs --rollouts", { exitCode: exit.usage });
  if (options.endpoint !== undefined && options.attack !== true)
    program.error("error: --endpoint needs --attack", { exitCode: exit.usage });
  const set = [...options.set, ...candidate.map((reward) => candidateSetting(reward, process.cwd()))];
  const loaded = loadedOrComplain(file, { set, asksReward: true, engineKeys }, draws);
  if (loaded === undefined) return;
  const { config, converted } = loaded;
  if (options.serve === true) {
    await serveUntilStopped(config, options);
    return;
  }
  if (rollouts !== undefined && options.coverage === true)
    await printCoverage(config, rollouts, options, options.json === true);
  else if (rollouts !== undefined && asksProbe !== true) await rescored(config, rollouts, options);
  const untried = draws && converted !== undefined ? whyUntried(converted) : undefined;
  if (untried === undefined) await checked(config, options);
  else sayUntried(file, untried, options.json === true);
}

function sayUntried(file: string, note: string, json: boolean): void {
  if (json) printJson({ type: "note", note });
  else complain(visibleText(`${pathText(resolve(file))}: ${note}`));
  process.exitCode = exit.failed;
}

export const command: Command = {
  name: "reward",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .option(
        "--rollouts <file>",
        "recorded rollouts: a file with one JSON object per line, `last`, or a run",
      )
      .option("--all", "with --rollouts: print every rollout, not only those that changed most")
      .option("--coverage", "of these rollouts: which lines and branches of the reward they reach")
      .option(
        "--candidate <reward>",
        "with --rollouts: another reward, a file or a method, to rank next to the config's; may be repeated",
        (reward: string, others: readonly string[]) => [...others, reward],
        [],
      )
      .option("--step <n>", "of a run: only this step", whole(0))
      .option("--store <folder>", "the store of a run, or a folder in its workspace")
      .option("--gold", "score every row's own reference answer")
      .option(
        "--probe",
        "score answers that should earn nothing: empty, filler, wrong, evasive; with --rollouts also changed ones of those",
      )
      .option(
        "--attack",
        "train a policy to please the reward without the answers; what it finds becomes a failing test",
      )
      .option("--serve", "serve the reward on this machine in OpenRLHF's protocol, until it is stopped")
      .option("--port <n>", "with --serve: the port; default: one that is free", whole(0), 0)
      .option("--key <variable>", "with --serve: environment variable with a token that requests must send")
      .option("--seconds <n>", "how long --attack may take", whole(1), 60)
      .option(
        "--endpoint <url>",
        "with --attack: an OpenAI-compatible server, whose model attacks in the place of the tiny policy",
      )
      .option("--model <name>", "with --endpoint: the model; default: the first that it serves")
      .option("--tries <n>", "with --endpoint: how many texts the model may try", whole(1), 200)
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option("--json", "one JSON object per line")
      .action((file: string, options: Options) => run(file, options, program));
  },
};
