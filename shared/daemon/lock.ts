/**
 * A lock file that says who holds it. It appears with its content in one step (a link to a finished file), so nobody
 * ever reads half of it, and it is stale when its holder is gone.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { isAlive, ownIdentity, type ProcessIdentity } from "./process.ts";

const holder = z.object({ pid: z.number().int(), processStart: z.string(), id: z.string().default("") });

export type LockResult =
  { readonly state: "taken"; readonly lock: Lock } | { readonly state: "held"; readonly by: ProcessIdentity };
export interface Lock {
  readonly path: string;
  /** Removes the file if it is still ours. */
  release(): void;
}

/** Who holds the lock, whether or not that process still runs; null: nobody, or the file is no lock of ours. */
export function readLock(path: string): ProcessIdentity | null {
  return read(path);
}
function read(path: string): z.infer<typeof holder> | null {
  try {
    return holder.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null; // absent, or not one of ours
  }
}

/**
 * Takes the lock, or says who holds it.
 * @param maximumAge milliseconds after which even a living holder counts as stuck
 */
export function takeLock(
  path: string,
  options: { readonly maximumAge?: number; readonly owner?: ProcessIdentity } = {},
): LockResult {
  const owner = options.owner ?? ownIdentity();
  const id = randomBytes(8).toString("hex");
  const draft = `${path}.${id}`;
  writeFileSync(draft, JSON.stringify({ ...owner, id }), { mode: 0o600, flag: "wx" });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      if (linked(draft, path)) return { state: "taken", lock: { path, release: () => releaseIf(path, id) } };
      const present = read(path);
      if (present !== null && isAlive(present) && !tooOld(path, options.maximumAge))
        return { state: "held", by: present };
      setAside(path, present?.id);
    }
    return { state: "held", by: read(path) ?? { pid: 0, processStart: "" } };
  } finally {
    rmSync(draft, { force: true });
  }
}

function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
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
function setAside(path: string, staleId: string | undefined): void {
  const aside = `${path}.${randomBytes(8).toString("hex")}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return; // gone already
  }
  if (read(aside)?.id !== staleId) linked(aside, path);
  rmSync(aside, { force: true });
}

function releaseIf(path: string, id: string): void {
  if (read(path)?.id === id) rmSync(path, { force: true });
}
