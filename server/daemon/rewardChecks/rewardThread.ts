/** A thread that tries one config's reward: functions of the workspace run in processes that it starts and ends. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type {
  ResultOf,
  RewardTestOutcome,
  rewardPin,
  rewardTest,
} from "../../../shared/protocol/protocol.ts";
import type { Expectation } from "../../../shared/rollouts/expectation.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { needs } from "../../config/needs.ts";
import { askJudge } from "../../analysis/judge/ask.ts";
import { judgeReport } from "../../analysis/judge/report.ts";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { attackReward } from "../../analysis/rewardChecks/attack.ts";
import { checkReward, countGold } from "../../analysis/rewardChecks/check.ts";
import { runTestsOfConfig } from "../../analysis/rewardChecks/configTests.ts";
import {
  pinnedTest,
  readRewardTests,
  runRewardTests,
  type RewardTestResult,
} from "../../analysis/rewardChecks/rewardTests.ts";
import { addTests, saveTests, testFileOf } from "../../analysis/rewardChecks/saveTests.ts";
import { holeMessage } from "../../analysis/rewardChecks/sentences.ts";
import { tasksToTry } from "../../analysis/rewardChecks/standInTasks.ts";
import { UnsavedTerm } from "../../analysis/rewardChecks/unsavedTerm.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { loadTried, type TriedFile } from "../../frameworks/use/asConfig/builtRows.ts";
import { loadFile, type LoadedFile } from "../../frameworks/use/asConfig/load.ts";
import { isPython, pythonText, readPython } from "../../lib/notebook/notebook.ts";
import { withhold } from "../../lib/own/withheld.ts";
import { testedConfig } from "../../frameworks/use/asConfig/testedConfig.ts";
import { recordedNear } from "../../store/recordedNear.ts";
import { threadError } from "../threadError.ts";
import { testCurricula } from "./curriculumTests.ts";
import type { Attacked, FromThread, RewardTask } from "./wire.ts";

const loaded = ({ file, text }: RewardTask): LoadedFile & { readonly config: RunConfig } =>
  withConfig(file, loadFile(file, { text, needs: needs.tried }));

function withConfig(file: string, found: LoadedFile): LoadedFile & { readonly config: RunConfig } {
  const { config, diagnostics } = found;
  if (config !== undefined) return { ...found, config };
  const wrong = diagnostics.find(({ severity }) => severity === "error");
  throw new UserError(`The config has errors: ${wrong?.message ?? "it cannot be read"}`, {
    code: "invalidConfig",
    file: wrong?.file ?? file,
    ...(wrong && { line: wrong.range.start.line }),
    action: "Fix them first.",
  });
}

async function attacked(config: RunConfig, scorer: AnswerScorer, seconds: number): Promise<Attacked> {
  await scorer.prepare();
  const { tasks, unread } = await tasksToTry(config, scorer, () => recordedNear(config));
  const [missing] = unread;
  if (tasks.length === 0 && missing !== undefined) throw missing.error;
  const { holes, failure, wrong, ...summary } = await attackReward(config, scorer, { seconds, tasks });
  return {
    ...summary,
    ...(failure !== null && { failure }),
    ...(wrong !== null && { wrong }),
    holes: holes.map((hole) => ({
      message: holeMessage(hole),
      share: hole.share,
      response: hole.examples[0]?.response ?? "",
    })),
    file: saveTests(config.file, scorer.body, holes)?.file ?? null,
  };
}

/** Scores with a config's rewards, with files of them as they are in an editor. */
const scorerOf = (
  config: RunConfig,
  signal: AbortSignal,
  unsaved: RewardTask["unsaved"],
  only?: string,
): AnswerScorer => {
  const scorer = new AnswerScorer(config, {
    signal,
    ...(only !== undefined && { only }),
    instead: (term, body) => UnsavedTerm.of(term, body, unsaved),
  });
  // Also a process that is still loading a function ends at once.
  signal.addEventListener("abort", () => void scorer.close(), { once: true });
  return scorer;
};

async function tested(
  task: RewardTask,
  files: readonly string[] | null,
  signal: AbortSignal,
): Promise<ResultOf<typeof rewardTest>> {
  if (files === null) {
    const { config } = loaded(task);
    const { results, broken } = await runTestsOfConfig(config, () => scorerOf(config, signal, task.unsaved));
    return { outcomes: results.map(outcomeOf), broken };
  }
  const [outcomes, broken]: [RewardTestOutcome[], { file: string; message: string }[]] = [[], []];
  for (const file of files) {
    try {
      const tests = await readRewardTests(file);
      const scorer = scorerOf(testedConfig(file, tests), signal, task.unsaved);
      try {
        await scorer.prepare();
        outcomes.push(...(await runRewardTests(tests, scorer)).map(outcomeOf));
      } finally {
        await scorer.close();
      }
    } catch (error) {
      broken.push({ file, message: messageOf(error) });
    }
  }
  return { outcomes, broken };
}

const outcomeOf = ({ place: { file, line }, failure, response }: RewardTestResult): RewardTestOutcome => ({
  file,
  line,
  failure: failure ?? null,
  response,
});

function pinned(task: RewardTask, row: RolloutRow, expect: Expectation): ResultOf<typeof rewardPin> {
  const { config } = loaded(task);
  const file = testFileOf(config.file, config.top, expect.term);
  const line = pinnedTest(row, expect);
  const { added } = addTests(file, [line]);
  const at = readFileSync(file, "utf8")
    .split("\n")
    .findIndex((one) => one.includes(line));
  return { file, line: at, added: added > 0 };
}

/** @param recorded its rollouts are there: no row is needed */
async function triedOf(
  { file, text }: RewardTask,
  recorded: boolean,
  signal: AbortSignal,
): Promise<TriedFile> {
  const options = { text, needs: needs.tried };
  return recorded ? { loaded: loadFile(file, options), notes: [] } : await loadTried(file, options, signal);
}

/** Of a script or a notebook that trains by functions of its own: these are in the editor, too. */
function ownText({ file, text }: RewardTask): RewardTask["unsaved"] {
  if (!isPython(file)) return {};
  const own = pythonText(file, text);
  return existsSync(file) && readPython(file) === own ? {} : { [resolve(file)]: own };
}

async function answer(
  task: RewardTask,
  signal: AbortSignal,
  post: (message: FromThread) => void,
): Promise<void> {
  const { want, unsaved } = task;
  // Simulated learners and what is written to a file need none of the folder's programs.
  if (want.kind === "simulate" || want.kind === "pin") withhold("Please report how you came here.");
  if (want.kind === "test") return post({ kind: "tested", tested: await tested(task, want.files, signal) });
  if (want.kind === "simulate")
    return post({ kind: "simulated", simulated: await testCurricula(want.files, signal) });
  if (want.kind === "pin") return post({ kind: "pinned", pinned: pinned(task, want.row, want.expect) });
  const { untried, notes, ...tried } = await triedOf(task, want.kind === "judge", signal);
  if (untried !== undefined && want.kind === "check") return post({ kind: "note", note: untried });
  if (untried !== undefined && want.kind === "gold") return post({ kind: "counted", counts: [] });
  if (untried !== undefined) throw new UserError(untried, { file: task.file, code: "reward-untried" });
  const { config, ...found } = withConfig(task.file, tried.loaded);
  if (want.kind === "check") for (const note of notes) post({ kind: "note", note });
  const texts = { ...unsaved, ...ownText(task) };
  const scorer = scorerOf(config, signal, texts, want.kind === "judge" ? want.term : undefined);
  try {
    signal.throwIfAborted();
    if (want.kind === "judge") {
      const asked = await askJudge(scorer, want.term, want.labels);
      const reported = judgeReport(want.term, want.labels, { ...asked, threshold: want.threshold });
      return post({ kind: "reported", reported });
    }
    if (want.kind === "gold") post({ kind: "counted", counts: await countGold(config, scorer) });
    else if (want.kind === "attack")
      post({ kind: "attacked", attacked: await attacked(config, scorer, want.seconds) });
    else
      for await (const checked of checkReward(config, found, scorer, {
        unsaved,
        rollouts: want.rollouts,
        near: () => recordedNear(config),
      }))
        post(checked);
  } finally {
    await scorer.close();
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const abort = new AbortController();
  port.once("message", () => abort.abort());
  try {
    await answer(workerData as RewardTask, abort.signal, (message) => port.postMessage(message));
  } catch (error) {
    port.postMessage({ kind: "failed", error: threadError(error) } satisfies FromThread);
  }
  port.close();
}
