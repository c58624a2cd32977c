/** What is said of a run whose process ended without an `end` record. */
import { statfsSync } from "node:fs";
import { siteName } from "../../../shared/run/origin.ts";
import { readWorker } from "../../../shared/run/lease.ts";
import { readRunFile } from "../../store/files.ts";
import { memoryNote } from "../../analysis/memory/note.ts";
import { workerLogTail } from "../worker.ts";

/** Less than this is too little for a step's records, and for the message that there is no room. */
const leastBytes = 1024 * 1024;

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < leastBytes;
}

export function interruption(run: string, folder: string): string {
  const pid = readWorker(folder)?.pid;
  const site = readRunFile(folder)?.site;
  if (site?.engine !== undefined)
    return `What followed the run here${pid === undefined ? "" : ` (pid ${pid})`} has ended. The job on ${siteName(site.site)} goes on: follow it again with gradus runs resume ${run}.`;
  const tail = workerLogTail(folder, 3);
  const what = `The run's process${pid === undefined ? " never started" : ` (pid ${pid}) ended without finishing`}.`;
  const full = isFull(folder) ? ` The disk of ${folder} is full: free space on it first.` : "";
  const last = tail === "" ? memoryNote(folder) : ` It last said: ${tail}`;
  return `${what}${full} Resume it from its last checkpoint: gradus runs resume ${run}.${last}`;
}

/** The run has ended, and the store cannot take that in yet. */
export const unwritable = (run: string, folder: string, reason: string): string =>
  `${interruption(run, folder)} The store cannot be written (${reason}); the run's log in ${folder} is kept and will be read as soon as the store can be written.`;

export const goneFolder = (run: string, folder: string): string =>
  `The folder ${folder} of run ${run} is gone, with its log and checkpoints: gradus runs delete ${run} removes it from the list.`;
