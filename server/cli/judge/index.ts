/** `gradus judge`: what a person's labels say of a reward term, and labelling in the terminal. */
import { needs } from "../../config/needs.ts";
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { basename } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { plural } from "../../../shared/lib/format.ts";
import { judgeHeadline, judgeLines } from "../../../shared/rollouts/judgeText.ts";
import { labelsFileOf, readLabels, type LabelledRollout } from "../../../shared/rollouts/labels.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { askJudge, recordedScores } from "../../analysis/judge/ask.ts";
import { usualCount } from "../../analysis/judge/draw.ts";
import { judgeReport, type Asked } from "../../analysis/judge/report.ts";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { complain, exit, print, printJson, type Command } from "../command.ts";
import { loadOrComplain } from "../loadOrComplain.ts";
import { whole } from "../options.ts";
import { collect, pathText } from "../text/diagnostics.ts";
import { wrapped } from "../text/terminal.ts";
import { drawnFrom } from "./drawn.ts";
import { labelInTerminal } from "./labelling.ts";

interface Options {
  readonly label?: boolean;
  readonly rollouts: string;
  readonly step?: number;
  readonly store?: string;
  readonly count: number;
  readonly seed: number;
  readonly labels?: string;
  readonly recorded?: boolean;
  readonly threshold?: number;
  readonly set: string[];
  readonly json?: boolean;
}

/** The one that was named, else the only one that has labels, else the config's only one. */
function termOf(config: RunConfig, named: string | undefined, labels: readonly LabelledRollout[]): string {
  if (named !== undefined) return named;
  const labelled = [...new Set(labels.map(({ label }) => label.term))];
  const terms = config.top.reward.terms.map(({ name }) => name);
  for (const choice of [labelled, terms]) if (choice.length === 1) return choice[0]!;
  throw new UserError("it is not said which reward term is the judge", {
    code: "usage",
    action: `Name one: gradus judge ${copiedWord(pathText(config.file))} ${copiedWord(terms[0] ?? "TERM")}. There are ${terms.join(", ")}.`,
  });
}

async function askedNow(config: RunConfig, term: string, labels: readonly LabelledRollout[]): Promise<Asked> {
  const scorer = new AnswerScorer(config, { only: term });
  if (!scorer.body.reward.terms.some(({ name }) => name === term)) {
    complain(`\`${term}\` is no term of ${pathText(config.file)} now: its recorded scores are used`);
    return recordedScores(labels);
  }
  try {
    await scorer.prepare();
    const asked = await askJudge(scorer, term, labels);
    const [skipped] = scorer.skipped;
    if (skipped === undefined) return asked;
    complain(`\`${term}\` cannot be asked: ${skipped.reason}. Its recorded scores are used`);
    return recordedScores(labels);
  } finally {
    await scorer.close();
  }
}

/** @returns whether all that were drawn have a label */
async function label(config: RunConfig, term: string, file: string, options: Options): Promise<boolean> {
  const known = readLabels(file).filter((one) => one.label.term === term);
  const drawn = await drawnFrom(options.rollouts, config, { ...options, term, known });
  if (drawn.length === 0) {
    complain(`All ${plural(known.length, "rollout")} that were drawn have a label: --count draws more.`);
    return true;
  }
  const labelled = await labelInTerminal(drawn, { term, file, before: known.length });
  complain(`${plural(labelled, "label")} added to ${pathText(file)}.`);
  if (labelled >= drawn.length) return true;
  complain(
    "The same command goes on where you stopped. The report is given when all are labelled, or without --label.",
  );
  return false;
}

async function run(configFile: string, named: string | undefined, options: Options): Promise<void> {
  const config = loadOrComplain(configFile, { set: options.set, needs: needs.scored });
  if (config === undefined) return;
  const file = options.labels ?? labelsFileOf(config.file);
  const term = termOf(config, named, readLabels(file));
  if (options.label === true && !(await label(config, term, file, options))) return;
  const labels = readLabels(file).filter((one) => one.label.term === term);
  if (labels.length === 0)
    throw new UserError(`there are no labels of \`${term}\` in ${basename(file)}`, {
      file,
      code: "labels-none",
      action: `Label some rollouts of the config's last run: gradus judge ${copiedWord(pathText(config.file))} ${copiedWord(term)} --label.`,
    });
  const asked = options.recorded === true ? recordedScores(labels) : await askedNow(config, term, labels);
  const report = judgeReport(term, labels, { ...asked, threshold: options.threshold });
  if (options.json === true) printJson(report);
  else {
    const width = process.stdout.columns > 0 ? process.stdout.columns : 100;
    for (const text of [judgeHeadline(report), ...judgeLines(report).map(({ text }) => `  ${text}`)])
      print(visibleText(wrapped(text, width)));
    for (const { step, group, index, score, good } of report.disagreements.slice(0, 5))
      print(
        visibleText(`  step ${step}, ${group}#${index}: score ${score}, labelled ${good ? "good" : "bad"}`),
      );
  }
  if (report.labels === 0) process.exitCode = exit.failed;
}

export const command: Command = {
  name: "judge",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .argument("[term]", "the reward term that is the judge; default: the only one")
      .option("--label", "first label rollouts here, by one key each")
      .option(
        "--rollouts <file>",
        "with --label: which rollouts: `last`, a run, or a file with one JSON object per line",
        "last",
      )
      .option("--step <n>", "with --label: of a run only this step", whole(0))
      .option("--store <folder>", "the store of a run, or a folder in its workspace")
      .option("--count <n>", "how many labels in all", whole(1), usualCount)
      .option("--seed <n>", "with --label: of the draw", whole(), 0)
      .option("--labels <file>", "the labels; default: a file next to the config, NAME.labels.jsonl")
      .option("--recorded", "compare with the scores that were recorded: the judge is not asked")
      .option("--threshold <x>", "a score from here on is a pass; default: 0.5 of scores in [0, 1]", Number)
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option("--json", "the report as one JSON object")
      .action((file: string, term: string | undefined, options: Options) => run(file, term, options));
  },
};
