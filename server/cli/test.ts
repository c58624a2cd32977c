import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../../shared/lib/errors.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { AnswerScorer } from "../analysis/rewardChecks/answers.ts";
import {
  hasTerms,
  readRewardTests,
  runRewardTests,
  testEnding,
  type RewardTest,
  type RewardTestResult,
} from "../analysis/rewardChecks/rewardTests.ts";
import { quoted } from "../analysis/rewardChecks/sentences.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { isConfigName } from "../config/configKind.ts";
import { loadFile } from "../frameworks/asConfig/load.ts";
import { converts } from "../frameworks/asConfig/convertFile.ts";
import { complain, exit, print, printJson, type Command } from "./command.ts";
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
  return filesBelow(word).filter((file) => file.endsWith(testEnding));
}

/** The nearest config above a test file whose reward has the terms that the tests name. */
function nearestConfig(file: string, tests: readonly RewardTest[]): RunConfig {
  let folder = dirname(resolve(file));
  for (;;) {
    const names = readdirSync(folder).sort();
    const others = names.filter((name) => converts(join(folder, name)));
    for (const name of [...names.filter(isConfigName), ...others]) {
      const { config } = loadFile(join(folder, name), {}, { absent: ["data", "model"] });
      if (config !== undefined && hasTerms(config.top, tests)) return config;
    }
    const above = dirname(folder);
    // A project's own folder is the last that is looked into.
    if (above === folder || existsSync(join(folder, ".git"))) break;
    folder = above;
  }
  const terms = [...new Set(tests.flatMap(({ expect: { term } }) => term ?? []))];
  throw new UserError(`no config near the tests has the reward ${terms.join(", ")}`, {
    file,
    code: "reward-test-config",
    action: "Name the config: gradus test FILE --config CONFIG.",
  });
}

async function runFile(file: string, named: string | undefined): Promise<RewardTestResult[] | undefined> {
  const tests = await readRewardTests(file);
  const config = named === undefined ? nearestConfig(file, tests) : loadOrComplain(named, []);
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
  const files = testFiles(words);
  if (files.length === 0)
    throw new UserError(`there is no file that ends with ${testEnding}`, {
      code: "usage",
      action: "Write one next to the reward; docs/rewards.md shows how.",
    });
  let [passed, failed] = [0, 0];
  for (const file of files) {
    const results = await runFile(file, config);
    if (results === undefined) return;
    for (const result of results) {
      show(result, json === true);
      if (result.failure === undefined) passed += 1;
      else failed += 1;
    }
  }
  if (json === true) printJson({ type: "summary", files: files.length, passed, failed });
  else print(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = exit.failed;
}

export const command: Command = {
  name: "test",
  configure: (program) => {
    program
      .argument("[paths...]", `files that end with ${testEnding}, or folders of such; default: this folder`)
      .option("--config <file>", "the config whose reward is tested; default: the nearest with the terms")
      .option("--json", "one JSON object per line")
      .action((paths: readonly string[], options: Options) => run(paths, options));
  },
};
