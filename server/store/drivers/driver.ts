/**
 * Opens SQLite: better-sqlite3 with the binding that set-up built for this Node, libsql, which comes prebuilt, where
 * set-up found no compiler, and before any set-up the one in WebAssembly that the package carries. Refuses the main
 * thread: a daemon that waits for a disk answers no request.
 */
import type BetterSqlite from "better-sqlite3";
import { isMainThread } from "node:worker_threads";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { carriedVersion, requireCarried } from "../../lib/carried.ts";
import { engineFix, nativeRequire, nativeVersion, sqliteBinding, sqliteDriver } from "../../lib/natives.ts";
import type { Database } from "./database.ts";
import { holdStore, type Hold, type DriverKind } from "./hold.ts";
import { openLibsql, type LibsqlConstructor } from "./libsqlDriver.ts";
import { openWasm, type WasmConstructor } from "./wasmDriver.ts";

type BetterConstructor = new (path: string, options?: BetterSqlite.Options) => BetterSqlite.Database;
type Open = (path: string, readonly: boolean) => Database;

interface OpenedDatabase {
  readonly database: Database;
  /** What `gradus doctor` and the daemon's status name. */
  readonly driver: string;
}

/** SQLite's own limit, with what it adds for its journal. */
const longestPath = 500;

const common = [
  "busy_timeout = 5000",
  "temp_store = MEMORY",
  "cache_size = -32000",
  "journal_size_limit = 67108864",
];
/** The WebAssembly driver has settled how it writes (`openWasm`); its journal must be on the disk before the file is. */
const pragmas: Readonly<Record<DriverKind, readonly string[]>> = {
  // NORMAL under WAL loses at most the last transactions in a power cut; their log is still there to be read again.
  native: ["journal_mode = WAL", "synchronous = NORMAL", ...common],
  wasm: ["synchronous = FULL", ...common],
};

/**
 * @param options.anyThread for tests and tools that have no one to keep waiting
 * @throws UserError when no driver loads or the file cannot be opened
 */
export function openDatabase(
  path: string,
  options: { readonly anyThread?: boolean; readonly readonly?: boolean } = {},
): OpenedDatabase {
  if (isMainThread && options.anyThread !== true)
    throw new Error("SQLite belongs to the store's thread, never to the main thread.");
  const readonly = options.readonly ?? false;
  const { open, driver, kind } = load();
  const hold = readonly ? undefined : holdStore(path, kind);
  try {
    const database = open(path, readonly);
    for (const pragma of pragmas[kind])
      if (!readonly || !pragma.startsWith("journal")) database.pragma(pragma);
    return { database: closing(database, hold), driver };
  } catch (error) {
    hold?.release();
    const length = Buffer.byteLength(path);
    if (length > longestPath)
      throw new UserError(
        `The store's path has ${length} bytes, but SQLite opens only files whose path has at most about ${longestPath}.`,
        {
          file: path,
          code: "store-failed",
          cause: error,
          action: "Use a store with a shorter path (--store FOLDER), or move the project.",
        },
      );
    throw new UserError(`The store cannot be opened: ${messageOf(error)}.`, {
      file: path,
      code: "store-failed",
      cause: error,
      action: "If the file is damaged, move it away: it is rebuilt from the run logs in the same folder.",
    });
  }
}

/** The file may be opened by another kind of SQLite once it is closed. */
const closing = (database: Database, hold: Hold | undefined): Database => ({
  exec: (sql) => database.exec(sql),
  prepare: (sql) => database.prepare(sql),
  transaction: (work) => database.transaction(work),
  pragma: (text) => database.pragma(text),
  close: () => {
    database.close();
    hold?.release();
  },
});

function load(): { open: Open; driver: string; kind: DriverKind } {
  const name = sqliteDriver();
  try {
    if (name === "node-sqlite3-wasm")
      return { open: withWasm(), driver: `${name} ${carriedVersion(name)}`, kind: "wasm" };
    const open = name === "libsql" ? withLibsql() : withBetterSqlite();
    return { open, driver: `${name} ${nativeVersion(name)}`, kind: "native" };
  } catch (error) {
    throw new UserError(`SQLite (${name}) cannot be loaded: ${messageOf(error)}.`, {
      code: "store-failed",
      cause: error,
      action: `Build it again: ${engineFix()}. Run \`gradus doctor\` to see what is missing.`,
    });
  }
}

function withWasm(): Open {
  const { Database: construct }: { readonly Database: WasmConstructor } = requireCarried("node-sqlite3-wasm");
  return (path, readonly) => openWasm(construct, path, readonly);
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
