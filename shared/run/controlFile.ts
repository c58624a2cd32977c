/**
 * `runs/<id>/control.jsonl`: whoever steers a run appends lines, its worker reads them. The folder may have come from
 * anywhere, so a link or a pipe in the file's place is neither written to nor read.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../lib/errors.ts";

const pathOf = (runFolder: string): string => join(runFolder, "control.jsonl");
const direct = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What opening says where there is no file, a link, or a pipe that nothing reads. */
const reasons = ["ENOENT", "ELOOP", "ENXIO"];
const says = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** Bytes from an offset on; none where there is no file yet, or something else in its place. */
export function readControl(runFolder: string, offset = 0): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(pathOf(runFolder), constants.O_RDONLY | direct);
  } catch (error) {
    if (says(error, reasons)) return Buffer.alloc(0);
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return Buffer.alloc(0);
    const bytes = Buffer.alloc(Math.max(0, stats.size - offset));
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(descriptor);
  }
}

/** @throws UserError where the file's place holds a link, a pipe or a folder */
export function appendControl(runFolder: string, line: string): void {
  const descriptor = openForAppending(runFolder);
  try {
    if (!fstatSync(descriptor).isFile()) throw misplaced(runFolder);
    writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
}

function openForAppending(runFolder: string): number {
  const mode = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | direct;
  try {
    return openSync(pathOf(runFolder), mode, 0o644);
  } catch (error) {
    throw says(error, ["ELOOP", "ENXIO", "EISDIR"]) ? misplaced(runFolder) : error;
  }
}

const misplaced = (runFolder: string): UserError =>
  new UserError(`${pathOf(runFolder)} is not a regular file, so nothing is written there.`, {
    file: pathOf(runFolder),
    code: "refused",
    action: "Remove it: Gradus creates the file when you control the run.",
  });
