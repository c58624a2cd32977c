/**
 * What of a store could go: checkpoints that later ones of their run replace, runs that were archived long ago, and what
 * killed processes left. Finding it changes nothing.
 */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Garbage, RunSummary } from "../../../shared/protocol/protocol.ts";
import { isSettled } from "../../../shared/protocol/runStatus.ts";
import { readBest } from "../../../shared/run/bestCheckpoint.ts";
import { workerIsAlive } from "../../../shared/run/lease.ts";
import { checkpointFolder, checkpointSteps } from "../../run/checkpoint/checkpoint.ts";
import { runFolder } from "../../store/files.ts";

export interface GarbageWish {
  /** Seconds since its end after which an archived run may go. */
  readonly olderThan: number;
  /** Checkpoints of each run that stay besides its best, the newest of them. */
  readonly keep: number;
}

/** Pinned runs and runs that are live keep all that they have. */
export function garbageOf(
  store: string,
  runs: readonly RunSummary[],
  { olderThan, keep }: GarbageWish,
  now = Date.now(),
): readonly Garbage[] {
  return runs.flatMap((run): Garbage[] => {
    const folder = runFolder(store, run.id);
    if (run.pinned === true || !isSettled(run.status) || !existsSync(folder) || workerIsAlive(folder))
      return [];
    const ended = Date.parse(run.endedAt ?? run.startedAt);
    if (run.archived === true && now - ended > olderThan * 1000)
      return [{ kind: "run", run: run.id, step: null, path: folder, bytes: bytesOf(folder) }];
    return [...superseded(run.id, folder, keep), ...drafts(run.id, folder)];
  });
}

function superseded(run: string, folder: string, keep: number): Garbage[] {
  const best = readBest(folder)?.step;
  return checkpointSteps(folder)
    .slice(0, -Math.max(1, keep))
    .filter((step) => step !== best)
    .map((step) => {
      const path = checkpointFolder(folder, step);
      return { kind: "checkpoint", run, step, path, bytes: bytesOf(path) };
    });
}

/** Checkpoints that were being written when their process was killed. */
function drafts(run: string, folder: string): Garbage[] {
  const checkpoints = join(folder, "checkpoints");
  if (!existsSync(checkpoints)) return [];
  return readdirSync(checkpoints)
    .filter((name) => /^\d+\.tmp-\d+$/.test(name))
    .map((name) => {
      const path = join(checkpoints, name);
      return { kind: "draft", run, step: null, path, bytes: bytesOf(path) };
    });
}

/** What deleting would free: a file that a fork links to stays, and frees nothing. */
function bytesOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const { size, nlink } = lstatSync(join(entry.parentPath, entry.name));
    if (nlink < 2) bytes += size;
  }
  return bytes;
}
