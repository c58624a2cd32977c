/** A database that is damaged: known by SQLite's answer, kept under another name, and built again out of the logs. */
import { existsSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { databasePath } from "../files.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** SQLite, or whoever passes its answer on, says that the file is not what it was. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return (
    /^SQLITE_(CORRUPT|NOTADB)/.test(code) ||
    /database disk image is malformed|file is not a database|malformed database schema/.test(error.message) ||
    isDamage(error.cause)
  );
}

/** Nothing is thrown away: the file and what belongs to it get another name. @returns the new name */
export function setAside(store: string): string {
  const path = databasePath(store);
  const stamp = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  let aside = `${path}.damaged-${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${path}.damaged-${stamp}-${n}`;
  for (const end of ["", "-wal", "-shm", "-journal"])
    if (existsSync(`${path}${end}`)) putInPlace(`${path}${end}`, `${aside}${end}`);
  return aside;
}

export const rebuilding = (store: string, aside: string, cause: unknown): UserError =>
  new UserError(
    `${databasePath(store)} was damaged (${messageOf(cause)}). It is kept as ${aside}, and everything in it is being rebuilt from the run logs.`,
    {
      file: aside,
      code: "store-rebuilt",
      cause,
      action: "Try again in a moment. If it happens again, check the disk. The kept file may be deleted.",
    },
  );
