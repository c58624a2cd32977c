/** The life of a process that runs a user's code under Node: it ends with its parent, and with all that it has started. */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { endGroup, markName } from "./processGroup.ts";

/** Ends this process and all that the user's code has started. */
function end(): void {
  endGroup(process.pid, process.env[markName] ?? "");
  process.kill(process.pid, "SIGKILL");
}

/** In a thread of its own: a function that never returns leaves the other no time to hear of the parent's death. */
function watchParent(parent: number): void {
  const gone = (): boolean => {
    try {
      process.kill(parent, 0);
    } catch {
      return true;
    }
    return process.platform !== "win32" && process.ppid !== parent;
  };
  setInterval(() => gone() && end(), 500);
}

/**
 * @param url the host's own file: its thread that watches runs it, too
 * @param hear is given each message of the parent
 */
export function hosted<Message>(url: string, hear: (message: Message) => void): void {
  if (!isMainThread) watchParent(Number(workerData));
  else if (process.send !== undefined) {
    new Worker(new URL(url), { workerData: process.ppid, execArgv: [] }).unref();
    process.on("message", hear);
    // The parent is gone: so is the reason to live.
    process.on("disconnect", end);
  }
}
