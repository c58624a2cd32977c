/** `gradus/reward/…`: what is wrong with a config's reward, for whoever has its text, and tests of it. */
import type { CancellationToken } from "vscode-jsonrpc/node";
import { UserError } from "../../../shared/lib/errors.ts";
import { plural } from "../../../shared/lib/format.ts";
import type {
  ParamsOf,
  ResultOf,
  RewardFinding,
  judgeReport,
  rewardAttack,
  rewardCheck,
  rewardGold,
  rewardPin,
  rewardTest,
} from "../../../shared/protocol/protocol.ts";
import { kindOfFailure, shortFailure } from "../../../shared/rollouts/failureText.ts";
import { labelsFileOf, readLabels } from "../../../shared/rollouts/labels.ts";
import { groupedBy } from "../../analysis/rewardChecks/findings.ts";
import { recordedScores } from "../../analysis/judge/ask.ts";
import { judgeReport as reportOf } from "../../analysis/judge/report.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { RunRecord } from "../../analysis/evidence/record.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { pathsOf } from "../fileRuns.ts";
import { editedFile } from "../rescore/rescoreOnce.ts";
import { isRunsFile, rewardFileOf } from "../rewardFiles.ts";
import type { RewardChecker } from "./rewardChecker.ts";
import type { RewardTask } from "./wire.ts";

/** Rollouts whose answers a check may change. */
const mostRollouts = 256;

type Edited = Pick<ParamsOf<typeof rewardCheck>, "uri" | "text" | "unsaved">;

const textsOf = (edited: Edited): Omit<RewardTask, "want"> => ({
  ...editedFile(edited),
  unsaved: edited.unsaved ?? {},
});

export async function checkReward(
  remote: Pick<RemoteStore, "call">,
  checker: RewardChecker,
  { trusted, recorded, python, ...edited }: ParamsOf<typeof rewardCheck>,
): Promise<ResultOf<typeof rewardCheck>> {
  const texts = textsOf(edited);
  const { record } = await remote.call("fileRuns", pathsOf(texts.file));
  const failures = record === null ? [] : await failuresOf(record);
  if (recorded || !trusted) return { findings: failures, notes: [] };
  const rollouts = record === null ? [] : await lastRollouts(remote, record.summary.id);
  const checked = await checker.check({ ...texts, want: { kind: "check", rollouts } }, python);
  if (checked === undefined) return { findings: null, notes: [] };
  return { findings: [...checked.findings, ...failures], notes: checked.notes };
}

export async function goldOfReward(
  checker: RewardChecker,
  { trusted, python, ...edited }: ParamsOf<typeof rewardGold>,
): Promise<ResultOf<typeof rewardGold>> {
  if (!trusted) return { counts: [] };
  return { counts: (await checker.gold({ ...textsOf(edited), want: { kind: "gold" } }, python)) ?? null };
}

export async function attackReward(
  checker: RewardChecker,
  { trusted, seconds, python, ...edited }: ParamsOf<typeof rewardAttack>,
  token: CancellationToken,
): Promise<ResultOf<typeof rewardAttack>> {
  const task: RewardTask = { ...textsOf(edited), want: { kind: "attack", seconds } };
  if (!trusted) throw untrusted("An attack runs the reward, so it needs a trusted workspace.", task.file);
  const abort = new AbortController();
  if (token.isCancellationRequested) abort.abort();
  const listening = token.onCancellationRequested(() => abort.abort());
  try {
    const attacked = await checker.attack(task, seconds, python, abort.signal);
    return attacked ?? { holes: [], answers: 0, seconds: 0, file: null };
  } finally {
    listening.dispose();
  }
}

/** `gradus/reward/pin`: nothing of the workspace runs, but a file of it is written. */
export async function pinReward(
  remote: Pick<RemoteStore, "call">,
  checker: RewardChecker,
  { run, step, group, index, expect, trusted, ...edited }: ParamsOf<typeof rewardPin>,
): Promise<ResultOf<typeof rewardPin>> {
  const texts = textsOf(edited);
  if (!trusted) throw untrusted("A pin writes a file, so it needs a trusted workspace.", texts.file);
  const { row } = await remote.call("rolloutRecord", run, { step, group, index });
  return checker.pin({ ...texts, want: { kind: "pin", row: { ...row, run }, expect } });
}

export async function testReward(
  checker: RewardChecker,
  { uri, files, unsaved = {}, trusted, python }: ParamsOf<typeof rewardTest>,
): Promise<ResultOf<typeof rewardTest>> {
  const [file = ""] = files ?? [];
  const texts = uri === undefined ? { file, text: "" } : editedFile({ uri });
  if (!trusted) throw untrusted("Tests run the reward, so they need a trusted workspace.", texts.file);
  const want = { kind: "test", files: files ?? null } as const;
  return checker.test({ ...texts, unsaved, want }, python);
}

/** `gradus/judge/report`: recorded scores need no trust; asking the judge runs what the config names. */
export async function reportOnJudge(
  checker: RewardChecker,
  { term, labels: named, ask, threshold, trusted, python, ...edited }: ParamsOf<typeof judgeReport>,
): Promise<ResultOf<typeof judgeReport>> {
  const { file } = editedFile({ uri: edited.uri, text: edited.text ?? "" });
  const labels = readLabels(named ?? labelsFileOf(file)).filter(({ label }) => label.term === term);
  if (!ask) return { report: reportOf(term, labels, { ...recordedScores(labels), threshold }) };
  if (!trusted) throw untrusted("Asking the judge runs the reward, so it needs a trusted workspace.", file);
  const task: RewardTask = { ...textsOf(edited), want: { kind: "judge", term, labels, threshold } };
  return { report: await checker.judge(task, python) };
}

const untrusted = (message: string, file: string): UserError =>
  new UserError(message, {
    file,
    code: "untrusted",
    action: "Trust this workspace first.",
  });

/** Rollouts of a run's last step that has some. */
async function lastRollouts(remote: Pick<RemoteStore, "call">, run: string): Promise<readonly RolloutRow[]> {
  const step = (await remote.call("rolloutSteps", run)).at(-1);
  if (step === undefined) return [];
  return (await remote.call("rollouts", { run, step, tokens: false, limit: mostRollouts })).rollouts;
}

/** What the last run's rewards failed with, one for each cause, at the lines that threw; not of files that have changed since. */
async function failuresOf(record: RunRecord): Promise<RewardFinding[]> {
  const { failures, summary, config, bundles } = record;
  const began = Date.parse(summary.startedAt) || 0;
  const same = new Map<string, boolean>();
  for (const term of new Set(failures.map((one) => one.term))) {
    const file = rewardFileOf(valueAt(config, ["reward", "terms", term]));
    const sha256 = bundles[term];
    same.set(term, file !== undefined && sha256 !== undefined && (await isRunsFile(file, sha256, began)));
  }
  const failing = failures.filter(
    ({ term, file, line }) => file !== null && line !== null && same.get(term) === true,
  );
  return groupedBy(failing, ({ term, message, file, cell, line }) => [
    term,
    file,
    cell,
    line,
    kindOfFailure(message).kind,
  ]).map((alike): RewardFinding => {
    const { term, message, file, cell, line } = alike[0];
    const [first, last] = [
      Math.min(...alike.map((one) => one.first)),
      Math.max(...alike.map((one) => one.last)),
    ];
    const steps = first === last ? `step ${first}` : `steps ${first} to ${last}`;
    const count = alike.reduce((sum, one) => sum + one.count, 0);
    return {
      file: file ?? "",
      ...(cell !== undefined && { cell }),
      line: (line ?? 1) - 1,
      severity: "warning",
      check: "run",
      term,
      message: `\`${term}\` failed on ${plural(count, "rollout")} of the last run (${summary.name}, ${steps}): ${shortFailure(message)}`,
    };
  });
}
