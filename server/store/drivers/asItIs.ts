/** A question to an SQLite file that others may be writing: nothing of ours locks or changes it. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { sqliteDriver } from "../../lib/natives.ts";
import type { Database } from "./database.ts";
import { openDatabase } from "./driver.ts";

/** Opened anew each time, in any thread. */
export function askAsItIs<Result>(file: string, ask: (database: Database) => Result): Result {
  // SQLite in WebAssembly would turn off the file's WAL to read it, and libsql takes it into the file: they get a copy.
  const folder = sqliteDriver() === "better-sqlite3" ? undefined : copied(file);
  const path = folder === undefined ? file : join(folder, basename(file));
  try {
    const { database } = openDatabase(path, { anyThread: true, readonly: folder === undefined });
    try {
      return ask(database);
    } finally {
      database.close();
    }
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function copied(file: string): string {
  const folder = mkdtempSync(join(tmpdir(), "gradus-sqlite-"));
  for (const ending of ["", "-wal"])
    if (existsSync(`${file}${ending}`))
      copyFileSync(`${file}${ending}`, join(folder, `${basename(file)}${ending}`));
  return folder;
}
