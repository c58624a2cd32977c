/**
 * node-sqlite3-wasm as the store's interface has it: SQLite where nothing has been built yet. It is carried in the package
 * and reads and writes the same file as the native ones. Found in 0.8.60, and why this file is more than a list of names:
 *
 * - It has no shared memory, so a file in WAL mode cannot be opened as it is: the log is taken in while the file is held
 *   exclusively, and the rollback journal is used from then on. The native packages turn WAL on again.
 * - Its lock is a folder next to the file (`.lock`), which no other SQLite sees and which a killed process leaves: who may
 *   open the file is decided before, by `hold.ts`.
 * - A failed step leaves its statement failing once more; it is prepared again. Statements are not collected by
 *   themselves: they are finalized when nothing refers to them any more, and when the database closes.
 * - A text is cut at its first NUL when it is bound and when it is read. Such a text goes in as bytes, cast to text by
 *   the statement; queries read texts that may hold one as blobs (`wholeText` in statements.ts).
 * - `get` leaves its statement in the middle, with its locks; only `all` is used. Booleans become numbers; they are refused.
 */
import type { Database as WasmDatabase, Statement as WasmStatement } from "node-sqlite3-wasm";
import { existsSync } from "node:fs";
import { transaction, type Database, type SqlValues, type Statement } from "./database.ts";
import { placeholdersOf, valuesFor, type Values } from "./placeholders.ts";

export type WasmConstructor = new (
  path: string,
  options?: { readonly fileMustExist?: boolean; readonly readOnly?: boolean },
) => WasmDatabase;
type Bindable = number | bigint | string | Uint8Array | null;
type Bound = Bindable[] | Record<string, Bindable>;

/** A statement of the package that is prepared when it is needed, and again after it failed. */
class Prepared {
  private statement: WasmStatement | undefined;

  constructor(
    private readonly database: WasmDatabase,
    private readonly sql: string,
  ) {
    this.statement = database.prepare(sql);
  }

  use<Result>(act: (statement: WasmStatement) => Result): Result {
    this.statement ??= this.database.prepare(this.sql);
    try {
      return act(this.statement);
    } catch (error) {
      this.finalize();
      throw error;
    }
  }

  finalize(): void {
    const { statement } = this;
    this.statement = undefined;
    try {
      statement?.finalize();
    } catch (error) {
      // Finalizing reports the failure of the last step once more; whoever took that step has it already.
      if (!(error instanceof Error)) throw error;
    }
  }
}

class WasmAdapter implements Database {
  private open = true;
  private readonly prepared = new Set<Prepared>();
  private readonly unused = new FinalizationRegistry<Prepared>((statement) => {
    if (this.prepared.delete(statement)) statement.finalize();
  });

  constructor(private readonly database: WasmDatabase) {}

  exec(sql: string): void {
    this.mustBeOpen();
    this.database.exec(sql);
  }

  prepare(sql: string): Statement {
    this.mustBeOpen();
    const wanted = placeholdersOf(sql);
    const plain = this.keep(sql);
    const use = <Result>(
      given: SqlValues,
      act: (statement: WasmStatement, bound: Bound) => Result,
    ): Result => {
      this.mustBeOpen();
      const values = valuesFor(given, wanted);
      if (!holdsNul(values)) return plain.use((statement) => act(statement, bound(values)));
      const casting = new Prepared(this.database, withCasts(sql, values));
      try {
        return casting.use((statement) => act(statement, bound(values)));
      } finally {
        casting.finalize();
      }
    };
    const all = (values: SqlValues): Record<string, unknown>[] =>
      use(values, (statement, bound) => statement.all(bound).map(withBuffers));
    const statement: Statement = {
      run: (...values) => use(values, (statement, bound) => statement.run(bound)),
      get: (...values) => all(values)[0],
      all: (...values) => all(values),
    };
    this.unused.register(statement, plain);
    return statement;
  }

  transaction<Result>(work: () => Result): Result {
    return transaction(this, () => this.database.inTransaction, work);
  }

  pragma(text: string): unknown {
    this.mustBeOpen();
    const row = this.database.all(`PRAGMA ${text}`)[0];
    return row === undefined ? undefined : Object.values(row)[0];
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    for (const statement of this.prepared) statement.finalize();
    this.prepared.clear();
    this.database.close();
  }

  private keep(sql: string): Prepared {
    const statement = new Prepared(this.database, sql);
    this.prepared.add(statement);
    return statement;
  }

  private mustBeOpen(): void {
    if (!this.open) throw new TypeError("The database connection is not open");
  }
}

/** @throws Error when the file cannot be opened, or is absent and to be read only */
export function openWasm(construct: WasmConstructor, path: string, readonly: boolean): Database {
  if (readonly && !existsSync(path)) throw new Error("unable to open database file");
  const database = new WasmAdapter(new construct(path, { readOnly: readonly }));
  try {
    // Only a connection that holds the file alone can read what a native SQLite left in its log.
    database.pragma("locking_mode = EXCLUSIVE");
    if (readonly) return database;
    database.pragma("busy_timeout = 5000");
    database.pragma("journal_mode = TRUNCATE");
    database.pragma("locking_mode = NORMAL");
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const listed = ({ values }: Values): readonly unknown[] => Object.values(values);
const holdsNul = (values: Values): boolean =>
  listed(values).some((value) => typeof value === "string" && value.includes("\0"));

/** The statement with each placeholder whose text holds a NUL cast from bytes. */
function withCasts(sql: string, values: Values): string {
  let ordinal = -1;
  return sql.replace(/'[^']*'|"[^"]*"|--.*|\?|@(\w+)/g, (part, name: string | undefined) => {
    if (part !== "?" && name === undefined) return part;
    const value =
      values.kind === "named"
        ? values.values[name ?? ""]
        : part === "?"
          ? values.values[++ordinal]
          : undefined;
    return typeof value === "string" && value.includes("\0") ? `CAST(${part} AS TEXT)` : part;
  });
}

function bound(values: Values): Bound {
  if (values.kind === "ordered") return values.values.map(bindable);
  return Object.fromEntries(
    Object.entries(values.values).map(([name, value]) => [`@${name}`, bindable(value)]),
  );
}

function bindable(value: unknown): Bindable {
  if (typeof value === "string") return value.includes("\0") ? Buffer.from(value) : value;
  // NaN is stored as NULL by every SQLite; a number as a whole one only where that loses nothing.
  if (typeof value === "number" || typeof value === "bigint" || value instanceof Uint8Array) return value;
  return null;
}

function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const name in row) {
    const value = row[name];
    if (value instanceof Uint8Array)
      row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return row;
}
