/**
 * Opens SQLite: better-sqlite3 with the binding that set-up built for this Node, or libsql, which comes prebuilt, where
 * set-up found no compiler. Refuses the main thread: a daemon that waits for a disk answers nobody.
 */
import type BetterSqlite from "better-sqlite3";
import { isMainThread } from "node:worker_threads";
import { UserError, messageOf } from "../../shared/errors.ts";
import { nativeRequire, nativeVersion, sqliteBinding, sqliteDriver } from "../natives.ts";
import type { Database } from "./database.ts";
import { openLibsql, type LibsqlConstructor } from "./libsqlDriver.ts";

type BetterConstructor = new (path: string, options?: BetterSqlite.Options) => BetterSqlite.Database;
type Open = (path: string, readonly: boolean) => Database;

export interface Opened {
  readonly database: Database;
  /** What `gradus doctor` and the daemon's status name. */
  readonly driver: string;
}

/** SQLite's own limit, with what it adds for its journal. */
const longestPath = 500;

// NORMAL under WAL loses at most the last transactions in a power cut; their log is still there to be read again.
const pragmas = [
  "busy_timeout = 5000",
  "journal_mode = WAL",
  "synchronous = NORMAL",
  "temp_store = MEMORY",
  "cache_size = -32000",
  "journal_size_limit = 67108864",
];

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
  const readonly = options.readonly ?? false;
  const { open, driver } = load();
  try {
    const database = open(path, readonly);
    for (const pragma of pragmas) if (!readonly || !pragma.startsWith("journal")) database.pragma(pragma);
    return { database, driver };
  } catch (error) {
    const length = Buffer.byteLength(path);
    if (length > longestPath)
      throw new UserError(
        `The store's path has ${length} bytes, and SQLite opens no file whose path is longer than about ${longestPath}.`,
        {
          file: path,
          code: "store-failed",
          cause: error,
          action: "Keep the store in a folder with a shorter path: --store FOLDER, or move the project.",
        },
      );
    throw new UserError(`The store cannot be opened: ${messageOf(error)}.`, {
      file: path,
      code: "store-failed",
      cause: error,
      action: "If the file is damaged, move it away: it is rebuilt from the run logs beside it.",
    });
  }
}

function load(): { open: Open; driver: string } {
  const name = sqliteDriver();
  try {
    const open = name === "libsql" ? withLibsql() : withBetterSqlite();
    return { open, driver: `${name} ${nativeVersion(name)}` };
  } catch (error) {
    throw new UserError(`SQLite (${name}) cannot be loaded: ${messageOf(error)}.`, {
      code: "store-failed",
      cause: error,
      action: "Run set-up again: npm start. `gradus doctor` says what is missing.",
    });
  }
}

function withLibsql(): Open {
  const construct: LibsqlConstructor = nativeRequire()("libsql");
  return (path, readonly) => openLibsql(construct, path, readonly);
}

function withBetterSqlite(): Open {
  const construct: BetterConstructor = nativeRequire()("better-sqlite3");
  const binding = sqliteBinding();
  return (path, readonly) => {
    const options = { readonly, ...(binding === undefined ? {} : { nativeBinding: binding }) };
    const database = new construct(path, options);
    return {
      exec: (sql) => void database.exec(sql),
      prepare: (sql) => database.prepare(sql),
      transaction: (work) => database.transaction(work).immediate(),
      pragma: (text) => database.pragma(text, { simple: true }),
      close: () => void database.close(),
    };
  };
}
