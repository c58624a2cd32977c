/**
 * libsql as the store's interface has it. Found in 0.5.29, and why this file is more than a list of names:
 *
 * - A value it has no type for (a boolean, an object) aborts the process, as do values by name for a `?`; values that are
 *   missing become NULL. So they are checked against the statement's text before they reach it.
 * - `readonly` is ignored, and a file that is to be read only would be made.
 * - `get` leaves its statement in the middle: locks stay, a later commit or checkpoint fails. Only `all` is used; it
 *   runs to the end. `get` also adds `_metadata` to the row.
 * - Blobs come as ArrayBuffers. `raw`, `pluck` and `iterate` are never used.
 * - A text is cut at its first NUL when it is read, though it is stored whole: queries read texts that may hold one as
 *   blobs (`wholeText` in statements.ts).
 * - Statements go on working after `close`, and keep the file open until they are collected.
 */
import { existsSync } from "node:fs";
import { transaction, type Database, type SqlValues, type Statement } from "./database.ts";
import { placeholdersOf, valuesFor } from "./placeholders.ts";

interface LibsqlStatement {
  run(values: unknown): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  all(values: unknown): Record<string, unknown>[];
}
interface LibsqlDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): LibsqlStatement;
  close(): void;
}
export type LibsqlConstructor = new (path: string) => LibsqlDatabase;

class LibsqlAdapter implements Database {
  private open = true;

  constructor(private readonly database: LibsqlDatabase) {}

  exec(sql: string): void {
    this.mustBeOpen();
    this.database.exec(sql);
  }

  prepare(sql: string): Statement {
    this.mustBeOpen();
    const statement = this.database.prepare(sql);
    const wanted = placeholdersOf(sql);
    const all = (values: SqlValues): Record<string, unknown>[] => {
      this.mustBeOpen();
      const rows = statement.all(valuesFor(values, wanted).values);
      rows.forEach(blobsToBuffers);
      return rows;
    };
    return {
      run: (...values) => {
        this.mustBeOpen();
        const { changes, lastInsertRowid } = statement.run(valuesFor(values, wanted).values);
        return { changes, lastInsertRowid };
      },
      get: (...values) => all(values)[0],
      all: (...values) => all(values),
    };
  }

  transaction<Result>(work: () => Result): Result {
    return transaction(this, () => this.database.inTransaction, work);
  }

  pragma(text: string): unknown {
    const row: unknown = this.prepare(`PRAGMA ${text}`).get();
    return typeof row === "object" && row !== null ? Object.values(row)[0] : undefined;
  }

  close(): void {
    this.open = false;
    this.database.close();
  }

  private mustBeOpen(): void {
    if (!this.open) throw new TypeError("The database connection is not open");
  }
}

/** @throws Error when the file cannot be opened, or is absent and to be read only */
export function openLibsql(construct: LibsqlConstructor, path: string, readonly: boolean): Database {
  if (readonly && !existsSync(path)) throw new Error("unable to open database file");
  const database = new LibsqlAdapter(new construct(path));
  if (readonly) database.exec("PRAGMA query_only = ON");
  return database;
}

function blobsToBuffers(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name];
    if (value instanceof ArrayBuffer) row[name] = Buffer.from(value);
  }
}
