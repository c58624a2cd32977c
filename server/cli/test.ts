import { statSync } from "node:fs";
import { needs } from "../config/needs.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { testEnding } from "../../shared/rollouts/expectation.ts";
import { curriculumTestEnding } from "../../shared/run/curriculumTests.ts";
import { isCurriculumTest } from "../analysis/curriculumTests/read.ts";
import { AnswerScorer } from "../analysis/rewardChecks/answers.ts";
import {
  readRewardTests,
  runRewardTests,
  type RewardTestResult,
} from "../analysis/rewardChecks/rewardTests.ts";
import { quoted } from "../analysis/rewardChecks/sentences.ts";
import { testedConfig } from "../frameworks/use/asConfig/testedConfig.ts";
import { complain, exit, print, printJson, type Command } from "./command.ts";
import { checkCurricula } from "./curriculumChecks.ts";
import { checkHarbor, harborFoldersOf } from "./harborChecks.ts";
import { loadOrComplain } from "./loadOrComplain.ts";
import { pathText } from "./text/diagnostics.ts";
import { filesBelow } from "./validate/files.ts";

interface Options {
  readonly config?: string;
  readonly json?: boolean;
}

function testFiles(words: readonly string[]): string[] {
  return [...new Set((words.length === 0 ? ["."] : words).flatMap(filesOf))];
}

function filesOf(word: string): string[] {
  if (statSync(word, { throwIfNoEntry: false })?.isDirectory() !== true) return [word];
  return filesBelow(word).filter((file) => file.endsWith(testEnding) || isCurriculumTest(file));
}

async function runFile(file: string, named: string | undefined): Promise<RewardTestResult[] | undefined> {
  const tests = await readRewardTests(file);
  const config =
    named === undefined ? testedConfig(file, tests) : loadOrComplain(named, { needs: needs.served });
  if (config === undefined) return undefined;
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    return await runRewardTests(tests, scorer);
  } finally {
    await scorer.close();
  }
}

function show(
  { place: { file, line }, term, value, response, failure }: RewardTestResult,
  json: boolean,
): void {
  if (json)
    printJson({
      type: "test",
      file,
      line,
      term: term ?? null,
      value,
      passed: failure === undefined,
      message: failure ?? null,
    });
  else if (failure !== undefined)
    complain(
      visibleText(`${pathText(file)}:${line + 1}:1: error: ${failure} [reward-test]${quoted(response)}`),
    );
}

async function run(words: readonly string[], { config, json }: Options): Promise<void> {
  const folders = harborFoldersOf(words);
  const files = testFiles(words);
  if (files.length === 0 && folders.length === 0)
    throw new UserError(`there is no file that ends with ${testEnding} or ${curriculumTestEnding}`, {
      code: "usage",
      action: "Write one next to the reward or the config; docs/rewards.md and docs/curriculum.md show how.",
    });
  let [passed, failed] = [0, 0];
  for (const file of files.filter((one) => !isCurriculumTest(one))) {
    const results = await runFile(file, config);
    if (results === undefined) return;
    for (const result of results) {
      show(result, json === true);
      if (result.failure === undefined) passed += 1;
      else failed += 1;
    }
  }
  const curricula = await checkCurricula(files.filter(isCurriculumTest), config, json === true);
  const harbor = await checkHarbor(folders, json === true);
  passed += curricula.passed + harbor.passed;
  failed += curricula.failed + harbor.failed;
  const refused = curricula.refused + harbor.refused;
  if (json === true)
    printJson({
      type: "summary",
      files: files.length,
      passed,
      failed,
      ...(folders.length > 0 && { folders: folders.length }),
      ...((folders.length > 0 || refused > 0) && { refused }),
    });
  else print(`${passed} passed, ${failed} failed${refused > 0 ? `, ${refused} refused` : ""}`);
  if (failed + refused > 0) process.exitCode = exit.failed;
}

export const command: Command = {
  name: "test",
  configure: (program) => {
    program
      .argument(
        "[paths...]",
        `files that end with ${testEnding} or ${curriculumTestEnding}, folders of such, or folders of Harbor tasks; default: this folder`,
      )
      .option(
        "--config <file>",
        "the config that is tested; default: the one that a file names, or the nearest with the reward's terms",
      )
      .option("--json", "one JSON object per line")
      .action((paths: readonly string[], options: Options) => run(paths, options));
  },
};
