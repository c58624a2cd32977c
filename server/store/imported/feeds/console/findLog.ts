/** Where a training left nothing but what it printed, or the state of its last checkpoint. */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readMetrics } from "../../trainerMetrics.ts";
import { fileNames } from "../../foreignFiles.ts";
import type { FoundFeed } from "../findFeed.ts";
import { LogFeed, trainerOfLog } from "./logFeed.ts";
import { StateFeed, stateName } from "./stateFeed.ts";

/** Names of logs; one that is named itself may have any. */
const logName = /\.(?:log|out|err|txt)$|^(?:stdout|stderr|nohup\.out|(?:logging|metrics)\.jsonl)$/;
/** Folders below the one that is named, logs in them that are looked into, and bytes of each until the first line of metrics. */
const depth = 2;
const mostLogs = 20;
const mostBytes = 64 * 1024 * 1024;

/**
 * The newest log that has metrics; before it a checkpoint's state where the training reached its end, since that says its steps.
 * @param root a folder, or a file of any name
 * @param most bytes of a named file that are looked through, and of it that are read
 */
export function findLog(root: string, most = Number.POSITIVE_INFINITY): FoundFeed | undefined {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return basename(root) === stateName ? ofState(root) : ofLog(root, most);
  if (stats?.isDirectory() !== true) return undefined;
  const files = [...filesIn(root, depth, root)];
  const [state] = byTime(files.filter((file) => basename(file) === stateName));
  const last = state === undefined ? undefined : readMetrics("trl", state);
  if (state !== undefined && (last?.made ?? 0) >= (last?.planned ?? Number.POSITIVE_INFINITY))
    return ofState(state);
  const logs = byTime(files.filter((file) => logName.test(basename(file)))).slice(0, mostLogs);
  const withMetrics = logs.flatMap((file) => {
    const trainer = trainerOfLog(file, mostBytes);
    return trainer === undefined ? [] : [{ file, trainer }];
  });
  const [newest, ...others] = withMetrics;
  if (newest === undefined) return state === undefined ? undefined : ofState(state);
  const also = others.slice(0, 3).map(({ file }) => basename(file));
  const notes =
    also.length === 0
      ? []
      : [
          `of several logs the newest, ${basename(newest.file)}, was read: name another (${also.join(", ")}) to import it`,
        ];
  const every = newest.trainer === "trl" ? last?.every : undefined;
  return {
    trainer: newest.trainer,
    folder: newest.file,
    open: () => new LogFeed(newest.file, newest.trainer, { every, notes }),
  };
}

function ofLog(file: string, most: number): FoundFeed | undefined {
  const trainer = trainerOfLog(file, most);
  return trainer === undefined
    ? undefined
    : { trainer, folder: file, open: () => new LogFeed(file, trainer, { most }) };
}

const ofState = (file: string): FoundFeed => ({
  trainer: "trl",
  folder: file,
  open: () => new StateFeed(file),
});

function* filesIn(folder: string, levels: number, root: string): Generator<string> {
  for (const name of fileNames(folder, root)) yield join(folder, name);
  if (levels === 0) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
      yield* filesIn(join(folder, entry.name), levels - 1, root);
}

/** Newest first. */
export const byTime = (files: readonly string[]): string[] =>
  files
    .map((file) => ({ file, time: statSync(file).mtimeMs }))
    .sort((one, other) => other.time - one.time)
    .map(({ file }) => file);
