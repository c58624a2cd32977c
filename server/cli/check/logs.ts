/** Logs of trainings that lie there, and what trackers recorded of them, each with its verdict. */
import { basename, dirname } from "node:path";
import { formatBytes } from "../../../shared/lib/format.ts";
import { isAlarm } from "../../../shared/run/verdict.ts";
import { byTime } from "../../store/imported/feeds/console/findLog.ts";
import { stateName } from "../../store/imported/feeds/console/stateFeed.ts";
import { verdictOfLog } from "../../store/imported/logVerdict.ts";
import { filesBelow } from "../validate/files.ts";
import type { Finding } from "../../../shared/editor/folderSum.ts";
import { statsOf } from "../../lib/inputFile.ts";

/** How the logs of launchers and trainers are called: what they are is decided by their lines. */
const logName =
  /\.(?:out|log|err)$|^(?:nohup|slurm|train)\S*\.txt$|^(?:trainer_state\.json|(?:logging|metrics)\.jsonl)$/;
/** TensorBoard's and W&B's. */
const trackerName = /^events\.out\.tfevents\.|^run-.+\.wandb$/;
/** Logs that are read: the newest of a folder full of them are those that a person asks about. */
const mostLogs = 8;
/** Of all of them: some ten thousand steps in a second or two. */
const mostBytes = 96 * 1024 * 1024;

export function logsBelow(
  word: string,
  most: number,
  isIgnored: (file: string) => boolean,
): readonly string[] {
  const stats = statsOf(word);
  if (stats === undefined) return [];
  const files = stats.isFile() ? [word] : filesBelow(word, most);
  const records = files.filter((file) => isRecord(file) && !isIgnored(file));
  return stats.isFile() ? records : onePerRun(byTime(records)).slice(0, mostLogs);
}

const isRecord = (file: string): boolean => logName.test(basename(file)) || isTrackers(file);
const isTrackers = (file: string): boolean => trackerName.test(basename(file));

/** Folders that a run makes below its own. */
const inside =
  /^(?:checkpoint-\d+|runs|tb|tensorboard(?:_log)?|logs|wandb|files|(?:offline-)?run-\S+|[A-Z][a-z]{2}\d\d_\S+)$/;

/**
 * Of the states of a run's checkpoints the last, of a tracker's files one, and none where the run has a state.
 * @param files the newest first
 */
function onePerRun(files: readonly string[]): readonly string[] {
  const states = new Map<string, string>();
  // A copy of a folder has its own times: the checkpoint's number counts.
  for (const file of files.filter(isState)) {
    const known = states.get(runFolder(file));
    if (known === undefined || checkpointOf(file) > checkpointOf(known)) states.set(runFolder(file), file);
  }
  const isOwn = (file: string): boolean => !isState(file) || states.get(runFolder(file)) === file;
  const own = files.filter((file) => !isTrackers(file) && isOwn(file));
  const seen = new Set(states.keys());
  const isFirst = (run: string): boolean => !seen.has(run) && Boolean(seen.add(run));
  return [...own, ...files.filter((file) => isTrackers(file) && isFirst(runFolder(file)))];
}

const isState = (file: string): boolean => basename(file) === stateName;
const checkpointOf = (file: string): number =>
  Number(/^checkpoint-(\d+)$/.exec(basename(dirname(file)))?.[1] ?? Number.POSITIVE_INFINITY);

function runFolder(file: string): string {
  let folder = dirname(file);
  while (inside.test(basename(folder))) folder = dirname(folder);
  return folder;
}

interface Read {
  readonly findings: readonly Finding[];
  /** Those that a trainer wrote. */
  readonly logs: readonly string[];
  /** What was not read, as sentences. */
  readonly left: readonly string[];
}

/** What a training printed and what it recorded say the same: of both the newer speaks. */
export function verdictsOf(files: readonly string[]): Read {
  const findings: Finding[] = [];
  const logs: string[] = [];
  const left: string[] = [];
  const said = new Map<string, boolean>();
  let bytes = mostBytes;
  for (const file of files) {
    const size = statsOf(file)?.size ?? 0;
    const most = bytes;
    const verdict = most > 0 ? verdictOfLog(file, most) : undefined;
    if (most <= 0) left.push(`${file} was not read, since others are long: \`gradus check ${file}\` does.`);
    bytes -= size;
    if (verdict === undefined) continue;
    logs.push(file);
    if (verdict.cut)
      left.push(
        `${file}: the first ${formatBytes(most)} of ${formatBytes(size)} were read: \`gradus runs import ${file}\` reads the rest.`,
      );
    const { state, step, sentence } = verdict;
    if (!isAlarm(state)) continue;
    const isPrinted = !isState(file) && !isTrackers(file);
    const alarm = `${state} ${step}`;
    if (said.get(alarm) === !isPrinted) continue;
    said.set(alarm, isPrinted);
    findings.push({ file, severity: "error", by: "log", rule: state, message: sentence });
  }
  return { findings, logs, left };
}
