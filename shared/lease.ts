/**
 * The right to work on a run, held by its worker process for life: two workers never train one run. The worker takes
 * it before anything else; `worker.json` then says who works, and the daemon reads liveness from it.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { takeLock } from "./daemon/lock.ts";
import { isAlive, ownIdentity } from "./daemon/process.ts";
import { UserError } from "./errors.ts";
import type { WorkerFile } from "./run.ts";

const workerPath = (runFolder: string): string => join(runFolder, "worker.json");
export const leasePath = (runFolder: string): string => join(runFolder, "lease");

const workerSchema = z.object({
  pid: z.number().int(),
  processStart: z.string(),
  attempt: z.number().int(),
  startedAt: z.string(),
  backend: z.string().optional(),
  version: z.string(),
});

/** Who works, or last worked, on a run; null before the first worker. */
export function readWorker(runFolder: string): WorkerFile | null {
  try {
    const { backend, ...rest } = workerSchema.parse(JSON.parse(readFileSync(workerPath(runFolder), "utf8")));
    return backend === undefined ? rest : { ...rest, backend };
  } catch {
    return null; // no worker has been started
  }
}

/** Temporary name and rename: readers see the old file or the new one. */
export function writeWorker(runFolder: string, worker: WorkerFile): void {
  const draft = `${workerPath(runFolder)}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, JSON.stringify(worker));
  renameSync(draft, workerPath(runFolder));
}

export const workerIsAlive = (runFolder: string): boolean => {
  const worker = readWorker(runFolder);
  return worker !== null && isAlive(worker);
};

export interface Lease {
  /** Says more in worker.json, e.g. the backend once it is chosen. */
  describe(more: { readonly backend?: string }): void;
  /** At the very end; a killed worker's lease is taken over by the next. */
  release(): void;
}

/**
 * Takes the run for this process and writes worker.json.
 * @throws UserError when another living process works on it
 */
export function takeLease(runFolder: string, attempt: number, version: string): Lease {
  const result = takeLock(leasePath(runFolder));
  if (result.state === "held") {
    throw new UserError(`Process ${result.by.pid} already works on this run.`, {
      file: leasePath(runFolder),
      code: "run-busy",
      action: "Follow it (gradus runs follow), or stop it first (gradus runs stop).",
    });
  }
  let worker: WorkerFile = { ...ownIdentity(), attempt, startedAt: new Date().toISOString(), version };
  writeWorker(runFolder, worker);
  return {
    describe: (more) => {
      worker = { ...worker, ...more };
      writeWorker(runFolder, worker);
    },
    release: () => result.lock.release(),
  };
}
