/**
 * A lock file that says who holds it. It appears with its content in one step (a link to a finished file), so a reader never
 * sees half of it; where a disk has no links (exFAT), whoever writes it looks whether it stayed. It is stale when its holder is
 * gone. Whether a holder of another machine or PID namespace
 * lives cannot be seen: it counts as alive while it touches the file.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { placeSchema } from "./place.ts";
import { isAlive, isElsewhere, ownIdentity, type ProcessIdentity } from "./process.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

const holderSchema = z.object({
  pid: z.number().int(),
  processStart: z.string(),
  place: placeSchema.optional(),
  id: z.string().default(""),
  /** Of a store's own lock: which folder it was taken in. A copy of the folder is another. */
  store: z.object({ path: z.string(), device: z.string(), inode: z.string() }).optional(),
});
export type LockHolder = z.infer<typeof holderSchema>;

type LockResult =
  | { readonly state: "taken"; readonly lock: Lock }
  | { readonly state: "held"; readonly by: ProcessIdentity };
export interface Lock {
  readonly path: string;
  /** A sign of life for those who cannot see our process. */
  touch(): void;
  /** Removes the file if it is still ours. */
  release(): void;
  /** Whether we still hold it. */
  isOurs(): boolean;
}

/** Milliseconds after which a holder that is elsewhere and has touched nothing counts as gone. */
export const silentAfter = 20_000;

/** Who holds the lock, whether or not that process still runs; null: it is free, or the file is not one of our locks. */
export function readLock(path: string): LockHolder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null; // absent, or not one of ours
  }
}

/** Whether one of the files was touched lately. */
export function touchedWithin(files: readonly string[], milliseconds: number): boolean {
  return files.some((file) => {
    const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    return touched !== undefined && Math.abs(Date.now() - touched) < milliseconds;
  });
}

/** A process here is looked at; one elsewhere counts while its lock file is touched. */
export const isHolding = (holder: ProcessIdentity, path: string): boolean =>
  isElsewhere(holder) ? touchedWithin([path], silentAfter) : isAlive(holder);

interface LockOptions {
  /** Milliseconds after which even a living holder counts as stuck. */
  readonly maximumAge?: number;
  readonly owner?: ProcessIdentity;
  readonly store?: LockHolder["store"];
  /** Whether whom the file names holds it still; `isHolding` if not said. */
  readonly holds?: (holder: LockHolder, path: string) => boolean;
  /** Puts a finished file in a place where none is: a test gives its own. */
  readonly link?: typeof linkSync;
}

/** Takes the lock, or says who holds it. */
export function takeLock(path: string, options: LockOptions = {}): LockResult {
  const owner = options.owner ?? ownIdentity();
  const holds = options.holds ?? isHolding;
  const id = randomBytes(8).toString("hex");
  const draft = `${path}.${id}`;
  const content = { ...owner, id, ...(options.store === undefined ? {} : { store: options.store }) };
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600, flag: "wx" });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      if (placed(draft, path, options.link)) return { state: "taken", lock: lockOf(path, id) };
      const present = readLock(path);
      if (present !== null && holds(present, path) && !tooOld(path, options.maximumAge))
        return { state: "held", by: present };
      setAside(path, present?.id, options.link);
    }
    return { state: "held", by: readLock(path) ?? { pid: 0, processStart: "" } };
  } finally {
    rmSync(draft, { force: true });
  }
}

function lockOf(path: string, id: string): Lock {
  const isOurs = (): boolean => readLock(path)?.id === id;
  return {
    path,
    isOurs,
    touch: () => {
      const now = new Date();
      if (isOurs()) utimesSync(path, now, now);
    },
    release: () => {
      if (isOurs()) rmSync(path, { force: true });
    },
  };
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** @returns false: another's file lies there */
function placed(draft: string, path: string, link = linkSync): boolean {
  try {
    link(draft, path);
    return true;
  } catch (error) {
    return !isTaken(error) && written(draft, path);
  }
}

/**
 * Without a link it is empty for a moment. Whoever saw it so, and set it aside, has either removed it before it was whole, and it is
 * not ours, or finds it whole and puts it back.
 */
function written(draft: string, path: string): boolean {
  try {
    writeFileSync(path, readFileSync(draft), { mode: 0o600, flag: "wx" });
    return readLock(path)?.id === readLock(draft)?.id;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

function tooOld(path: string, maximumAge: number | undefined): boolean {
  if (maximumAge === undefined) return false;
  try {
    return Date.now() - statSync(path).mtimeMs > maximumAge;
  } catch {
    return false; // released meanwhile: the next round takes it
  }
}

/** Moves a stale lock away. Where another process was faster and the file is a new holder's, it is put back. */
function setAside(path: string, staleId: string | undefined, link = linkSync): void {
  const aside = `${path}.${randomBytes(8).toString("hex")}.stale`;
  try {
    putInPlace(path, aside);
  } catch {
    return; // gone already
  }
  if (readLock(aside)?.id !== staleId) placed(aside, path, link);
  rmSync(aside, { recursive: true, force: true });
}
