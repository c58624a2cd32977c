/** Why a training ended, where a log of it lies in the folder that is imported. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { causeText } from "../../analysis/failure/causeText.ts";
import { rootCause, type RootCause } from "../../analysis/failure/rootCause.ts";

export interface Failure extends Omit<RootCause, "line"> {
  readonly log: string;
  /** Of the log, from 1; null: only the end of it was read. */
  readonly line: number | null;
}

const logName = /\.(?:log|out|err)$|^(?:stdout|stderr)(?:\.txt)?$/;
/** Folders below the one that is named, logs that are looked into, bytes of each. */
const depth = 2;
const mostLogs = 5;
const mostBytes = 200 * 1024;

/** @param path the folder, a log, or another file in the folder; undefined: no log there shows a failure */
export function failureIn(path: string): Failure | undefined {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const logs = (
    !isFolder && logName.test(basename(path)) ? [path] : logsIn(isFolder ? path : dirname(path), depth)
  )
    .map((file) => ({ file, ...statSync(file) }))
    .filter(({ size }) => size > 0)
    .sort((one, other) => other.mtimeMs - one.mtimeMs);
  for (const { file, size } of logs.slice(0, mostLogs)) {
    const found = rootCause(endOf(file, size));
    if (found === undefined) continue;
    const { line, ...cause } = found;
    return { ...cause, log: file, line: size <= mostBytes ? line : null };
  }
  return undefined;
}

function logsIn(folder: string, levels: number): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    if (entry.isFile()) return logName.test(entry.name) ? [join(folder, entry.name)] : [];
    return entry.isDirectory() && levels > 0 && !/^\.|^node_modules$/.test(entry.name)
      ? logsIn(join(folder, entry.name), levels - 1)
      : [];
  });
}

function endOf(file: string, size: number): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(descriptor);
  }
}

/** "the training failed (train.log:40): …" */
export const failureText = (failure: Failure, shown: (path: string) => string): string =>
  `the training failed (${shown(failure.log)}${failure.line === null ? "" : `:${failure.line}`}): ${causeText(failure)}`;
