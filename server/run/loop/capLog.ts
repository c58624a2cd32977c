/** The file that a worker's output goes to, kept from filling the disk. */
import { copyFileSync, fstatSync, statSync, truncateSync } from "node:fs";

/** Bytes; as many again are in the file next to it, which holds what came before. */
const most = 8 * 2 ** 20;
/** Milliseconds between two looks. */
const interval = 1000;

/**
 * Moves what the log holds to `<file>.1` and empties it, where it has grown too large. The worker writes on through
 * the same descriptor, which appends.
 */
export function capLog(file: string, limit = most): boolean {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= limit) return false;
  copyFileSync(file, `${file}.1`);
  truncateSync(file, 0);
  return true;
}

/** Looks at it now and then, as long as the process lives; not where the output goes elsewhere. */
export function keepLogSmall(file: string): void {
  const log = statSync(file, { throwIfNoEntry: false });
  const output = fstatSync(2);
  if (log === undefined || log.ino !== output.ino || log.dev !== output.dev) return;
  const timer = setInterval(() => {
    try {
      capLog(file);
    } catch {
      clearInterval(timer); // the folder is gone, or full: the run itself will say so
    }
  }, interval);
  timer.unref();
}
