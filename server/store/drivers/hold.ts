/**
 * Who has a store's file open. The native SQLite packages see each other's locks; the one in WebAssembly sees none of
 * theirs and they none of its, so a file next to the store says which kind has it, and the two never have it together.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { isAlive, ownIdentity } from "../../../shared/daemon/process.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

export type DriverKind = "native" | "wasm";
export interface Hold {
  release(): void;
}

const holder = z.object({
  pid: z.number().int(),
  processStart: z.string(),
  kind: z.enum(["native", "wasm"]),
});
type Holder = z.infer<typeof holder>;

/** A file without a readable holder and older than this is one whose writer died between making and writing it. */
const writingTakes = 2_000;
/** Milliseconds between two looks at one that is being written. */
const lookEvery = 20;
/** Enough to see a half-written one grow old, and to set it aside. */
const mostAttempts = (2 * writingTakes) / lookEvery;
const none: Hold = { release: () => undefined };

export const holdPath = (database: string): string => `${database}.held`;

/** @throws UserError while a living process has the file open with the other kind of SQLite */
export function holdStore(database: string, kind: DriverKind): Hold {
  const path = holdPath(database);
  const own = JSON.stringify({ ...ownIdentity(), kind });
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const made = create(path, own);
    if (made === "made") {
      // Whoever held it has gone: the folder by which SQLite in WebAssembly locks is a leftover.
      rmSync(`${database}.lock`, { recursive: true, force: true });
      return { release: () => releaseIf(path, own) };
    }
    // Where nothing can be written next to the file, SQLite itself says what cannot be done.
    if (made === "refused") return none;
    const text = textOf(path);
    const present = text === undefined ? undefined : parsed(text);
    if (present === undefined) {
      if (ageOf(path) < writingTakes) pause(lookEvery);
      else setAside(path, text);
    } else if (
      present.pid === process.pid ||
      (isAlive(present) && present.kind === kind && kind === "native")
    )
      return none;
    else if (isAlive(present)) throw busy(database, present);
    else setAside(path, text);
  }
  throw busy(database, undefined);
}

const busy = (database: string, present: Holder | undefined): UserError =>
  new UserError(
    present === undefined
      ? "Another process is opening this store."
      : `Process ${present.pid} has this store open${present.kind === "wasm" ? " with the bundled SQLite" : ""}, and only one process may.`,
    {
      file: database,
      code: "busy",
      action: "Stop it first: gradus daemon stop. Runs continue without it.",
    },
  );

function create(path: string, text: string): "made" | "there" | "refused" {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return "made";
  } catch (error) {
    return codeOf(error) === "EEXIST" ? "there" : "refused";
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parsed(text: string): Holder | undefined {
  try {
    return holder.parse(JSON.parse(text));
  } catch {
    return undefined; // half written, or no file of ours
  }
}

function ageOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}

/** Moves a stale file away. Where another process was faster and the file is a new holder's, it is put back. */
function setAside(path: string, stale: string | undefined): void {
  const aside = `${path}.${process.pid}`;
  try {
    putInPlace(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  const moved = textOf(aside);
  if (moved !== stale && moved !== undefined) create(path, moved);
  rmSync(aside, { force: true });
}

function releaseIf(path: string, own: string): void {
  if (textOf(path) === own) rmSync(path, { force: true });
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

const pause = (milliseconds: number): unknown =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
