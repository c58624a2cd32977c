/** The daemon's log is its standard error: a file that its starter opened. It is kept short while the daemon runs. */
import { constants, copyFileSync, fstatSync, ftruncateSync, rmSync, statSync, writeSync } from "node:fs";
import { daemonLogBytes } from "../../shared/daemon/connect.ts";

let path: string | undefined;

/** Names the file that standard error goes to; without it the log grows. */
export function logsTo(file: string): void {
  path = file;
}

/**
 * What is too long is set aside as `daemon.log.1`. Copied and cut, not renamed: standard error stays this very file,
 * and what a library writes there comes to the same place.
 */
export function keepLogShort(): void {
  try {
    if (path === undefined || fstatSync(process.stderr.fd).size <= daemonLogBytes) return;
    const [open, named] = [fstatSync(process.stderr.fd), statSync(path, { throwIfNoEntry: false })];
    if (!open.isFile() || open.ino !== named?.ino || open.dev !== named.dev) return;
    // A link in its place would be written through.
    rmSync(`${path}.1`, { force: true });
    copyFileSync(path, `${path}.1`, constants.COPYFILE_EXCL);
    ftruncateSync(process.stderr.fd, 0);
  } catch {
    return; // a full disk: there is no other place to say it, and it is tried again
  }
}

/** A log that cannot grow (a full disk) must not end the daemon. */
export function log(text: string): void {
  try {
    writeSync(process.stderr.fd, `${new Date().toISOString()} ${text}\n`);
  } catch {
    return; // there is no other place to say it
  }
  keepLogShort();
}
