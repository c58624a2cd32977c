/** Whether a process is still the one we mean: a pid alone says nothing after it has been given to another. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Who a process is, beyond its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** As the operating system tells it: ticks since boot on Linux, a date elsewhere. Empty: not known. */
  readonly processStart: string;
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

function startElsewhere(pid: number): string {
  try {
    if (process.platform === "win32") {
      return execFileSync(
        "powershell.exe",
        ["-NoProfile", "-Command", `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
      ).trim();
    }
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, LC_ALL: "C" },
    }).trim();
  } catch {
    return "";
  }
}

/** When a process began; empty when it is not there or the system does not tell. */
export function processStart(pid: number): string {
  return process.platform === "linux" ? (linuxStat(pid)?.start ?? "") : startElsewhere(pid);
}

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  processStart: processStart(process.pid),
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

/** True while that very process runs. A zombie has ended; a pid whose start time differs is another process. */
export function isAlive({ pid, processStart: began }: ProcessIdentity): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (process.platform === "linux") {
    const stat = linuxStat(pid);
    if (stat === null || stat.state === "Z" || stat.state === "X") return false;
    return began === "" || stat.start === began;
  }
  if (!answersSignal(pid)) return false;
  const now = began === "" ? "" : startElsewhere(pid);
  return now === "" || now === began;
}
