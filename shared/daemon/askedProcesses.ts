/**
 * Who a process is, where a program must be asked: PowerShell on Windows, `ps` on a Mac. Each takes a good part of a second, in the
 * thread that asks, so a process is asked about once, and not again while every look finds it alive.
 */
import { execFileSync } from "node:child_process";
import { windowsProgram } from "../lib/windowsProgram.ts";

/** Milliseconds between two looks at a number within which no other process has got it. */
const sameWithin = 5_000;

/** Of the system's programs. Empty: there is no such process, or nobody says. */
export interface ProcessFacts {
  start(pid: number): string;
  /** Its program and arguments, in one text. */
  command(pid: number): string;
}

interface Known {
  seen: number;
  start?: string;
  command?: string;
}

export class AskedProcesses implements ProcessFacts {
  private readonly known = new Map<number, Known>();

  constructor(
    private readonly system: ProcessFacts,
    private readonly isRunning: (pid: number) => boolean,
    private readonly now: () => number = () => performance.now(),
  ) {}

  start(pid: number): string {
    const known = this.look(pid);
    return known === undefined ? "" : (known.start ??= this.system.start(pid));
  }

  command(pid: number): string {
    const known = this.look(pid);
    return known === undefined ? "" : (known.command ??= this.system.command(pid));
  }

  private look(pid: number): Known | undefined {
    const now = this.now();
    for (const [other, { seen }] of this.known) if (now - seen > sameWithin) this.known.delete(other);
    if (!this.isRunning(pid)) {
      this.known.delete(pid);
      return undefined;
    }
    const known = this.known.get(pid) ?? { seen: now };
    known.seen = now;
    this.known.set(pid, known);
    return known;
  }
}

function outputOf(program: string, words: readonly string[], zone?: string): string {
  try {
    return execFileSync(program, words, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
      env: { ...process.env, LC_ALL: "C", ...(zone !== undefined && { TZ: zone }) },
    }).trim();
  } catch {
    return ""; // there is no such process, or the system does not say
  }
}

const powershell = (command: string): string =>
  outputOf(windowsProgram("WindowsPowerShell", "v1.0", "powershell.exe"), [
    "-NoProfile",
    "-Command",
    command,
  ]);

export const windows: ProcessFacts = {
  start: (pid) => powershell(`(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`),
  command: (pid) => powershell(`(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`),
};

/** `ps` prints local time: after a journey or in summer a process would be another. */
const universal = "UTC ";
export const posix: ProcessFacts = {
  start: (pid) => {
    const start = outputOf("ps", ["-o", "lstart=", "-p", String(pid)], "UTC");
    return start === "" ? "" : `${universal}${start}`;
  },
  command: (pid) => outputOf("ps", ["-ww", "-o", "command=", "-p", String(pid)]),
};

/** Milliseconds from 1601, where Windows begins to count, to 1970. */
const windowsEpoch = 11_644_473_600_000n;

/** A moment as the system's program writes it: who knows when a process began need not ask. */
export function writtenAs(milliseconds: number, platform = process.platform): string {
  if (platform === "win32") return String((BigInt(Math.round(milliseconds)) + windowsEpoch) * 10_000n);
  const [day = "", date = "", month = "", year = "", time = ""] = new Date(milliseconds)
    .toUTCString()
    .split(" ");
  return `${universal}${day.slice(0, 3)} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`;
}

function momentOf(start: string): number | undefined {
  if (/^\d{18}$/.test(start)) return Number(BigInt(start) / 10_000n - windowsEpoch);
  return start.startsWith(universal) ? Date.parse(`${start.slice(universal.length)} UTC`) : undefined;
}

/** Milliseconds that a process may take from its start, as the system counts, until it looks at the clock. */
const startTakes = 10_000;

/** What an earlier version recorded on a Mac says no zone, and no longer tells two processes apart. */
export function isSameStart(recorded: string, now: string): boolean {
  if (recorded === now) return true;
  const [one, other] = [momentOf(recorded), momentOf(now)];
  if (one !== undefined && other !== undefined) return Math.abs(one - other) <= startTakes;
  return now.startsWith(universal) && recorded !== "" && one === undefined;
}

/** The folder that follows the words in a command line that is one text; Windows puts quotes around what has blanks. */
export function folderAfter(command: string, words: readonly string[]): string {
  const plain = command.replaceAll('"', "");
  const [, given = ""] =
    new RegExp(` ${words.join(" +")} +(.+?)(?: --attempt \\d+)?$`).exec(plain.trimEnd()) ?? [];
  return given;
}
