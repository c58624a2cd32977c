// A lock between processes: a file that only one can create. Its holder's process id and start time tell a dead one.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** No step of set-up takes longer; a lock older than this belongs to a process id that was given out again. */
export const staleAfter = 60 * 60_000;
/** A file without a readable holder is one whose writer died between creating and writing it. */
const emptyAfter = 10_000;

/** Start time of a process in clock ticks since boot, where the system reports it: the same id with another start is another process. */
export function startOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ")[19];
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  }
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function unlessGone(read) {
  try {
    return read();
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Who holds it: {pid, start, age in ms}; undefined when it is free; pid undefined while it is being written. */
export function holderOf(file, now = Date.now()) {
  return unlessGone(() => {
    const [pid, start] = readFileSync(file, "utf8").split(" ");
    return { pid: pid ? Number(pid) : undefined, start, age: now - statSync(file).mtimeMs };
  });
}

/** Whether the holder can no longer be at work. */
export function isStale(holder, alive = isAlive, start = startOf) {
  if (holder.pid === undefined || Number.isNaN(holder.pid)) return holder.age > emptyAfter;
  if (!alive(holder.pid)) return true;
  const now = start(holder.pid);
  if (now !== undefined && holder.start) return now !== holder.start;
  return holder.age > staleAfter;
}

/** Takes the lock or says who has it. Exclusive creation is the only thing that decides between two starters. */
export function tryLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  try {
    const handle = openSync(file, "wx", 0o600);
    writeSync(handle, `${process.pid} ${startOf(process.pid) ?? ""}`);
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  const holder = holderOf(file);
  if (holder !== undefined && isStale(holder)) removeStale(file);
  return false;
}

/** Two waiters may find the same stale lock; only the one that takes the removal right may remove, and it looks again first. */
function removeStale(file) {
  const right = `${file}.remove`;
  try {
    closeSync(openSync(right, "wx", 0o600));
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const old = holderOf(right);
    if (old !== undefined && old.age > emptyAfter) rmSync(right, { force: true });
    return;
  }
  const holder = holderOf(file);
  if (holder !== undefined && isStale(holder)) rmSync(file, { force: true });
  rmSync(right, { force: true });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Runs `work` while holding the lock. A second starter waits, says once for whom, and then finds everything done.
 * The lock is released on return, on an error and on an exit of the process.
 */
export async function withLock(file, work, { say = () => undefined, every = 100 } = {}) {
  let said = false;
  while (!tryLock(file)) {
    if (!said) say(`another set-up is running (process ${holderOf(file)?.pid ?? "unknown"}); waiting for it`);
    said = true;
    await pause(every);
  }
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.removeListener("exit", release);
    release();
  }
}
