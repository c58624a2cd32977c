/**
 * The right to work on a run, held by its worker process for life: two workers never train one run. The worker takes
 * it before anything else; `worker.json` then says who works, and the daemon reads liveness from it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { keepTouched } from "../daemon/heartbeat.ts";
import { readLock, takeLock, touchedWithin } from "../daemon/lock.ts";
import { placeSchema, placeText, type Place } from "../daemon/place.ts";
import {
  isAlive,
  isElsewhere,
  mayBeAlive,
  ownIdentity,
  worksOn,
  type ProcessIdentity,
} from "../daemon/process.ts";
import { UserError } from "../lib/errors.ts";
import { workerCommand, type WorkerFile } from "./run.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

const workerPath = (runFolder: string): string => join(runFolder, "worker.json");
export const leasePath = (runFolder: string): string => join(runFolder, "lease");

/**
 * Milliseconds without a sign of life after which a worker that is elsewhere counts as gone: many beats, and longer than
 * a network file system keeps a file's times to itself.
 */
const workerSilentAfter = 90_000;
/** Three beats; a worker that has just been started takes its lease within this time. */
const leaseWithin = 15_000;

const workerSchema = z.object({
  pid: z.number().int().positive(),
  processStart: z.string(),
  place: placeSchema.optional(),
  attempt: z.number().int(),
  startedAt: z.string(),
  backend: z.string().optional(),
  version: z.string(),
});

/** Who works, or last worked, on a run; null before the first worker. */
export function readWorker(runFolder: string): WorkerFile | null {
  try {
    const { backend, place, ...rest } = workerSchema.parse(
      JSON.parse(readFileSync(workerPath(runFolder), "utf8")),
    );
    return {
      ...rest,
      ...(backend === undefined ? {} : { backend }),
      ...(place === undefined ? {} : { place }),
    };
  } catch {
    return null; // no worker has been started
  }
}

/** Temporary name and rename: readers see the old file or the new one. */
export function writeWorker(runFolder: string, worker: WorkerFile): void {
  const draft = `${workerPath(runFolder)}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, JSON.stringify(worker));
  putInPlace(draft, workerPath(runFolder));
}

/**
 * Whether this very process is a worker of ours, on this run: whatever a file says, only such a one is waited for or signalled. Where
 * no program says what a process was started with, the beat of the run's lease does.
 */
export const isWorkerOf = (runFolder: string, identity: ProcessIdentity): boolean =>
  isAlive(identity) && (worksOn(identity.pid, [workerCommand], runFolder) ?? isBeating(runFolder));

const isBeating = (runFolder: string): boolean =>
  touchedWithin([leasePath(runFolder), workerPath(runFolder)], leaseWithin);

/** The same for who only looks, as often as twice a second: while its lease is touched no program is asked who that process is. */
const seemsWorkerOf = (runFolder: string, identity: ProcessIdentity): boolean =>
  mayBeAlive(identity) &&
  ((process.platform !== "linux" && isBeating(runFolder)) || isWorkerOf(runFolder, identity));

/** Whether it may be a worker of this run, gives no sign of life, and no program says what that process is. */
export const isSilent = (runFolder: string, identity: ProcessIdentity): boolean =>
  isAlive(identity) && worksOn(identity.pid, [workerCommand], runFolder) === undefined;

/** Who works on a run now. */
export type Holder =
  | { readonly state: "none" }
  | { readonly state: "here"; readonly identity: ProcessIdentity }
  /** In another PID namespace or on another machine, and has given a sign of life lately. */
  | { readonly state: "elsewhere"; readonly pid: number; readonly place: Place };

export function holderOf(runFolder: string): Holder {
  const worker = readWorker(runFolder);
  if (worker !== null && seemsWorkerOf(runFolder, worker)) return { state: "here", identity: worker };
  const lease = readLock(leasePath(runFolder));
  if (lease !== null && seemsWorkerOf(runFolder, lease)) return { state: "here", identity: lease };
  if (lease?.place !== undefined && isBusyElsewhere(runFolder, lease))
    return { state: "elsewhere", pid: lease.pid, place: lease.place };
  if (
    worker?.place !== undefined &&
    isElsewhere(worker) &&
    touchedWithin([workerPath(runFolder)], leaseWithin)
  )
    return { state: "elsewhere", pid: worker.pid, place: worker.place };
  return { state: "none" };
}

function isBusyElsewhere(runFolder: string, holder: ProcessIdentity): boolean {
  return (
    isElsewhere(holder) && touchedWithin([leasePath(runFolder), ...logFiles(runFolder)], workerSilentAfter)
  );
}

function logFiles(runFolder: string): string[] {
  const log = join(runFolder, "log");
  if (!existsSync(log)) return [];
  return readdirSync(log, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".seg"))
    .map((name) => join(log, name));
}

/** A worker lives, here or elsewhere. */
export const workerIsAlive = (runFolder: string): boolean => holderOf(runFolder).state !== "none";

/** What to do about a run that somebody else works on. */
export function busyElsewhere(
  run: string,
  { pid, place }: Extract<Holder, { state: "elsewhere" }>,
): UserError {
  return new UserError(`Run ${run} is live ${placeText(place)}: process ${pid} there works on it.`, {
    code: "busy",
    action: `Stop it there (gradus runs stop ${run}). If that container or machine is gone, wait ${workerSilentAfter / 1000} s after its last heartbeat and try again.`,
  });
}

export interface Lease {
  /** Says more in worker.json, e.g. the backend once it is chosen. */
  describe(more: { readonly backend?: string }): void;
  /** @throws UserError once another worker has taken the run, as after a long sleep of this process, or its folder was removed */
  check(): void;
  /** At the very end; a killed worker's lease is taken over by the next. */
  release(): void;
}

/**
 * Takes the run for this process and writes worker.json.
 * @throws UserError when another living process works on it
 */
export function takeLease(runFolder: string, attempt: number, version: string): Lease {
  const path = leasePath(runFolder);
  const result = takeLock(path, {
    holds: (holder) =>
      (holder.pid === process.pid && isAlive(holder)) ||
      isWorkerOf(runFolder, holder) ||
      isBusyElsewhere(runFolder, holder),
  });
  if (result.state === "held") throw refusal(runFolder, result.by);
  const rest = keepTouched(path);
  let worker: WorkerFile = { ...ownIdentity(), attempt, startedAt: new Date().toISOString(), version };
  writeWorker(runFolder, worker);
  return {
    describe: (more) => {
      worker = { ...worker, ...more };
      writeWorker(runFolder, worker);
    },
    check: () => {
      if (result.lock.isOurs()) return;
      if (readLock(path) === null) throw removed(runFolder);
      throw new UserError("Another process has taken this run over, because this one's lease had expired.", {
        file: path,
        code: "run-busy",
        action: "Follow the run as it continues there: gradus runs follow.",
      });
    },
    release: () => {
      rest();
      result.lock.release();
    },
  };
}

/** Whether an error says that the run is no longer this process's: it writes nothing more of it. */
export const hasLostRun = (error: unknown): boolean =>
  error instanceof UserError && ["run-removed", "run-busy"].includes(error.detail.code ?? "");

const removed = (runFolder: string): UserError =>
  new UserError("The run's folder or its lease was removed while the run was live, so it ends here.", {
    file: runFolder,
    code: "run-removed",
    action:
      "Where that was not meant, restore the folder from a copy and resume the run: gradus runs resume.",
  });

function refusal(runFolder: string, by: ProcessIdentity): UserError {
  if (by.place !== undefined && isElsewhere(by))
    return busyElsewhere(basename(runFolder), { state: "elsewhere", pid: by.pid, place: by.place });
  return new UserError(`Process ${by.pid} already works on this run.`, {
    file: leasePath(runFolder),
    code: "run-busy",
    action: "Follow it (gradus runs follow), or stop it first (gradus runs stop).",
  });
}
