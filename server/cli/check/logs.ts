/** Logs of trainings that lie there, each with its verdict. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { isAlarm } from "../../../shared/run/verdict.ts";
import { byTime } from "../../store/imported/feeds/console/findLog.ts";
import { verdictOfLog } from "../../store/imported/logVerdict.ts";
import { filesBelow } from "../validate/files.ts";
import type { Finding } from "../../../shared/editor/folderSum.ts";

/** How the logs of launchers and trainers are called: what they are is decided by their lines. */
const isLogName = (name: string): boolean =>
  /\.(?:out|log|err)$/.test(name) ||
  /^(?:nohup|slurm|train)\S*\.txt$/.test(name) ||
  name === "trainer_state.json";
/** Logs that are read: the newest of a folder full of them are those that a person asks about. */
const mostLogs = 8;
/** Of one log, from its beginning: some ten thousand steps, in about a second. */
const mostBytes = 16 * 1024 * 1024;

export function logsBelow(word: string, most: number): readonly string[] {
  const stats = statSync(word, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isFile()) return isLogName(basename(word)) ? [word] : [];
  return byTime(filesBelow(word, most).filter((file) => isLogName(basename(file)))).slice(0, mostLogs);
}

interface Read {
  readonly findings: readonly Finding[];
  /** Those that a trainer wrote. */
  readonly logs: readonly string[];
}

export function verdictsOf(files: readonly string[]): Read {
  const findings: Finding[] = [];
  const logs: string[] = [];
  for (const file of files) {
    const verdict = verdictOfLog(file, mostBytes);
    if (verdict === undefined) continue;
    logs.push(file);
    const { state, sentence } = verdict;
    if (isAlarm(state))
      findings.push({
        file,
        severity: "error",
        by: "log",
        rule: state,
        message: sentence,
      });
  }
  return { findings, logs };
}
