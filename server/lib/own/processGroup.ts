/**
 * The end of a process with everything that it started. Its group takes most of them; those that began a session of
 * their own are found by a mark in their environment, which Linux shows.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { windowsProgram } from "../../../shared/lib/windowsProgram.ts";

/** The variable that marks a reward's process and all that descend from it. */
export const markName = "GRADUS_REWARD_MARK";

/** A program may start others while it is being ended: it is looked for again as often. */
const rounds = 5;

const signalled = (pid: number, signal: NodeJS.Signals | 0 = "SIGKILL"): boolean => {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // it has ended meanwhile, or was never ours to end
  }
};

/**
 * Those that did not leave the leader's group. Windows has none and names the parent of each: what a leader that is gone has started
 * is not found there.
 * @param leader of a group of its own: started with `detached`, but on Windows without, where it ends with this process then
 */
export function endFamily(leader: number, platform = process.platform): void {
  if (platform !== "win32") return void signalled(-leader);
  if (!signalled(leader, 0)) return;
  spawnSync(windowsProgram("taskkill.exe"), ["/T", "/F", "/PID", String(leader)], {
    stdio: "ignore",
    windowsHide: true,
    timeout: 10_000,
  });
  signalled(leader);
}

/** @param leader as `endFamily` */
export function endGroup(leader: number, mark: string): void {
  if (process.platform === "win32") return endFamily(leader);
  // A process that ends its own group ends last.
  const own = leader === process.pid;
  if (!own) endFamily(leader);
  for (let round = 0; round < rounds; round++) {
    const left = descendants(leader, mark);
    if (left.length === 0) break;
    for (const pid of left) signalled(pid);
  }
  if (own) endFamily(leader);
}

/** Processes with the mark, and those of the leader's session that took another environment. */
function descendants(leader: number, mark: string): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  const wanted = `${markName}=${mark}`;
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    return isOf(`/proc/${name}`, leader, wanted) ? [pid] : [];
  });
}

function isOf(folder: string, leader: number, wanted: string): boolean {
  try {
    // The name in brackets may hold anything; after it: state, parent, group, session.
    const stat = readFileSync(`${folder}/stat`, "utf8");
    const [state, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return false;
    if (Number(session) === leader) return true;
    return readFileSync(`${folder}/environ`, "latin1").split("\0").includes(wanted);
  } catch {
    return false; // ended while it was looked at, or another user's
  }
}
