/**
 * Opens SQLite: better-sqlite3 with the binding that set-up built for this Node, or libsql (the same API, prebuilt)
 * where set-up found no compiler. Refuses the main thread: a daemon that waits for a disk answers nobody.
 */
import type BetterSqlite from "better-sqlite3";
import { isMainThread } from "node:worker_threads";
import { UserError, messageOf } from "../../shared/errors.ts";
import { nativeRequire, nativeVersion, sqliteBinding, sqliteDriver } from "../natives.ts";

export type Database = BetterSqlite.Database;
export type Statement = BetterSqlite.Statement;
type Constructor = new (path: string, options?: BetterSqlite.Options) => Database;

export interface Opened {
  readonly database: Database;
  /** What `gradus doctor` and the daemon's status name. */
  readonly driver: string;
}

/**
 * @param options.anyThread for tests and tools that have no one to keep waiting
 * @throws UserError when no driver loads or the file cannot be opened
 */
export function openDatabase(
  path: string,
  options: { readonly anyThread?: boolean; readonly readonly?: boolean } = {},
): Opened {
  if (isMainThread && options.anyThread !== true)
    throw new Error("SQLite belongs to the store's thread, never to the main thread.");
  const { construct, driver, binding } = load();
  try {
    const database = new construct(path, {
      ...(binding === undefined ? {} : { nativeBinding: binding }),
      readonly: options.readonly ?? false,
    });
    // NORMAL under WAL loses at most the last transactions in a power cut; their log is still there to be read again.
    for (const pragma of [
      "busy_timeout = 5000",
      "journal_mode = WAL",
      "synchronous = NORMAL",
      "temp_store = MEMORY",
      "cache_size = -32000",
      "journal_size_limit = 67108864",
    ]) {
      if (options.readonly !== true || !pragma.startsWith("journal")) database.pragma(pragma);
    }
    return { database, driver };
  } catch (error) {
    throw new UserError(`The store cannot be opened: ${messageOf(error)}.`, {
      file: path,
      code: "store-failed",
      cause: error,
      action: "If the file is damaged, move it away: it is rebuilt from the run logs beside it.",
    });
  }
}

function load(): { construct: Constructor; driver: string; binding: string | undefined } {
  const name = sqliteDriver();
  const require = nativeRequire();
  try {
    const construct: Constructor = require(name);
    const version = nativeVersion(name);
    return {
      construct,
      driver: `${name} ${version}`,
      binding: name === "better-sqlite3" ? sqliteBinding() : undefined,
    };
  } catch (error) {
    throw new UserError(`SQLite (${name}) cannot be loaded: ${messageOf(error)}.`, {
      code: "store-failed",
      cause: error,
      action: "Run set-up again: npm start. `gradus doctor` says what is missing.",
    });
  }
}
