/** Whether a process is still the one we mean: a pid alone says nothing after it has been given to another. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { AskedProcesses, folderAfter, isSameStart, posix, windows, writtenAs } from "./askedProcesses.ts";
import { ownPlace, samePlace, type Place } from "./place.ts";
import { realPath } from "../lib/realPath.ts";

/** Who a process is, beyond its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** As the operating system reports it: ticks since boot on Linux, a date elsewhere. Empty: not known. */
  readonly processStart: string;
  /** Where that pid counts. Absent in files of earlier versions, which knew one machine only. */
  readonly place?: Place | undefined;
}

/** State and start time (field 22) of /proc/<pid>/stat. The command, field 2, may hold blanks and parentheses. */
function linuxStat(pid: number): { readonly state: string; readonly start: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", start: fields[19] ?? "" };
  } catch {
    return null; // the process is gone, or was never there
  }
}

/** When a process began; empty when it is not there or the system does not say. */
export function processStart(pid: number): string {
  return process.platform === "linux" ? (linuxStat(pid)?.start ?? "") : asked.start(pid);
}

const asked = new AskedProcesses(process.platform === "win32" ? windows : posix, isRunning);

/** The start of a process that has begun just now, for which no program need be asked. */
export const startOfChild = (pid: number, now = Date.now()): string =>
  process.platform === "linux" ? processStart(pid) : writtenAs(now);

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  processStart: startOfChild(process.pid, performance.timeOrigin),
  place: ownPlace(),
});

/** Signal 0 asks whether the process is there; EPERM means that it is, and someone else's. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Whether any process has this number here; which one, `isAlive` says. A zombie has ended. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (process.platform !== "linux") return answersSignal(pid);
  const stat = linuxStat(pid);
  return stat !== null && stat.state !== "Z" && stat.state !== "X";
}

export const isElsewhere = ({ place }: ProcessIdentity, here: Place = ownPlace()): boolean =>
  place !== undefined && !samePlace(place, here);

/**
 * True while that very process runs here. A pid whose start time differs is another process, and without a start time it
 * could be any: it counts as gone, wherever the system says when a process began.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (isElsewhere(identity) || !isRunning(identity.pid)) return false;
  const now = processStart(identity.pid);
  return now === "" ? process.platform !== "linux" : isSameStart(identity.processStart, now);
}

/** As far as it can be seen without starting a program: only where one would have to be asked may another have got the number. */
export const mayBeAlive = (identity: ProcessIdentity): boolean =>
  process.platform === "linux" ? isAlive(identity) : !isElsewhere(identity) && isRunning(identity.pid);

/** Its program and arguments; null where they cannot be separated, or it is gone. */
function linuxArguments(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return []; // it is gone
  }
}

/**
 * Whether a process of ours was started for this folder: its command line has `words`, then the folder. What a file says
 * of a process is not enough to signal it.
 * @returns undefined where nobody says what it was started with
 */
export function worksOn(pid: number, words: readonly string[], folder: string): boolean | undefined {
  if (!isRunning(pid)) return false;
  if (process.platform !== "linux") {
    const command = asked.command(pid);
    if (command === "") return undefined;
    return sameFolder(folderAfter(command, words), folder);
  }
  const given = linuxArguments(pid);
  return given.some(
    (_, at) =>
      words.every((word, index) => given[at + index] === word) &&
      sameFolder(given[at + words.length] ?? "", folder),
  );
}

/** A folder that was moved while the process lives still has its name, and is no longer where it was. */
function sameFolder(given: string, folder: string): boolean {
  if (given === "") return false;
  if (!existsSync(given)) return basename(given) === basename(folder);
  return realPath(given) === realPath(folder);
}
