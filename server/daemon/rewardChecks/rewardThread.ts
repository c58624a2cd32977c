/** A thread that tries one config's reward: functions of the workspace run in processes that it starts and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { UserError } from "../../../shared/lib/errors.ts";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { attackReward } from "../../analysis/rewardChecks/attack.ts";
import { checkReward } from "../../analysis/rewardChecks/check.ts";
import { saveTests } from "../../analysis/rewardChecks/saveTests.ts";
import { holeMessage } from "../../analysis/rewardChecks/sentences.ts";
import { UnsavedTerm } from "../../analysis/rewardChecks/unsavedTerm.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { loadFile, type LoadedFile } from "../../frameworks/asConfig/load.ts";
import { threadError } from "../threadError.ts";
import type { Attacked, FromThread, RewardTask } from "./wire.ts";

function loaded({ file, text }: RewardTask): LoadedFile & { readonly config: RunConfig } {
  const found = loadFile(file, { text }, { absent: ["model"] });
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
  const { holes, failure, ...summary } = await attackReward(config, scorer, { seconds });
  return {
    ...summary,
    ...(failure !== null && { failure }),
    holes: holes.map((hole) => ({
      message: holeMessage(hole),
      share: hole.share,
      response: hole.examples[0]?.response ?? "",
    })),
    file: saveTests(config.file, scorer.body, holes)?.file ?? null,
  };
}

async function answer(
  task: RewardTask,
  signal: AbortSignal,
  post: (message: FromThread) => void,
): Promise<void> {
  const { config, ...found } = loaded(task);
  const scorer = new AnswerScorer(config, {
    signal,
    instead: (term, body) => UnsavedTerm.of(term, body, task.unsaved),
  });
  // Also a process that is still loading a function ends at once.
  signal.addEventListener("abort", () => void scorer.close(), { once: true });
  try {
    signal.throwIfAborted();
    const { want, unsaved } = task;
    if (want.kind === "attack")
      post({ kind: "attacked", attacked: await attacked(config, scorer, want.seconds) });
    else
      for await (const checked of checkReward(config, found, scorer, { unsaved, rollouts: want.rollouts }))
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
