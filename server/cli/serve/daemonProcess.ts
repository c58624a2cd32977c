import { resolve } from "node:path";
import { messageOf } from "../../../shared/lib/errors.ts";
import { runDaemon } from "../../daemon/daemon.ts";
import { log } from "../../daemon/log.ts";
import { exit } from "../command.ts";
import { programPath } from "../runs/store.ts";

declare const GRADUS_VERSION: string;

const defaultIdle = 30 * 60_000;

/** GRADUS_IDLE_MS: milliseconds without client and live run until the daemon ends; 0 never. */
function idleFromEnvironment(): number {
  const value = Number(process.env["GRADUS_IDLE_MS"] ?? defaultIdle);
  return Number.isFinite(value) && value >= 0 ? value : defaultIdle;
}

/** The daemon's process. Its first client starts it, detached; it stops when there is nothing left to do. */
export async function serveStore(store: string): Promise<void> {
  process.on("unhandledRejection", (error) => log(`unhandled: ${messageOf(error)}`));
  await runDaemon({
    store: resolve(store),
    version: GRADUS_VERSION,
    // GRADUS_WORKER_ENTRY: another program with the worker's arguments, for tests of the supervision.
    worker: {
      node: process.execPath,
      entry: process.env["GRADUS_WORKER_ENTRY"] ?? programPath(),
      version: GRADUS_VERSION,
    },
    idle: idleFromEnvironment(),
  });
  process.exit(process.exitCode ?? exit.ok);
}
