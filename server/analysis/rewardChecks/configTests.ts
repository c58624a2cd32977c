/** The tests that belong to a config's rewards: what must hold before a run trains on them. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../../shared/lib/errors.ts";
import { testEnding } from "../../../shared/rollouts/expectation.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { AnswerScorer } from "./answers.ts";
import { ownFile } from "./ownFiles.ts";
import {
  hasTerms,
  readRewardTests,
  runRewardTests,
  type RewardTest,
  type RewardTestResult,
} from "./rewardTests.ts";
import { testFileNear } from "./saveTests.ts";

interface ConfigTests {
  readonly tests: readonly RewardTest[];
  /** Files that cannot be read as tests, with why. */
  readonly broken: readonly { readonly file: string; readonly message: string }[];
}

const testsIn = (folder: string): string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(folder)
        .filter((name) => name.endsWith(testEnding))
        .map((name) => join(folder, name))
    : [];

/**
 * Those in files that are named after the config or its reward files, and others next to these whose terms the config
 * has.
 */
export async function testsOfConfig({ file, top }: Pick<RunConfig, "file" | "top">): Promise<ConfigTests> {
  const near = [file, ...top.reward.terms.flatMap((term) => ownFile(term) ?? [])];
  const own = new Set(near.map(testFileNear));
  const files = [...new Set(near.map((one) => dirname(one)))].flatMap(testsIn).sort();
  const [tests, broken]: [RewardTest[], { file: string; message: string }[]] = [[], []];
  for (const one of files) {
    try {
      const read = await readRewardTests(one);
      const named = read.every(({ expect: { term } }) => term !== undefined);
      if (hasTerms(top, read) && (own.has(one) || named)) tests.push(...read);
    } catch (error) {
      if (own.has(one)) broken.push({ file: one, message: `${basename(one)}: ${messageOf(error)}` });
    }
  }
  return { tests, broken };
}

/** @returns results of the config's tests; none where it has none, and then nothing of the workspace runs */
export async function runTestsOfConfig(
  config: Pick<RunConfig, "file" | "top">,
  scorer: () => AnswerScorer,
): Promise<{ readonly results: readonly RewardTestResult[]; readonly broken: ConfigTests["broken"] }> {
  const { tests, broken } = await testsOfConfig(config);
  if (tests.length === 0) return { results: [], broken };
  const made = scorer();
  try {
    await made.prepare();
    return { results: await runRewardTests(tests, made), broken };
  } finally {
    await made.close();
  }
}
