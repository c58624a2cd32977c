/**
 * What the store needs of SQLite, and no more: both packages that it runs on are made to fit it, so that nothing above
 * it knows which one is there. Rows are plain objects by column name; blobs are Buffers.
 */

/**
 * Numbers (whole ones exact to 2^53; NaN is stored as NULL), bigints of 64 bits, texts, bytes, null: in the order of the
 * `?`, or one object for the `@names`. Anything else is refused with an error.
 */
export type SqlValues = readonly unknown[];

export interface Statement {
  run(...values: SqlValues): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  /** The first row; the statement is run to its end, so that it holds no lock afterwards. */
  get(...values: SqlValues): unknown;
  all(...values: SqlValues): readonly unknown[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Everything or nothing. Takes the write lock at once: BEGIN IMMEDIATE. Not to be nested. */
  transaction<Result>(work: () => Result): Result;
  /** The first value of the first row that a pragma answers with. */
  pragma(text: string): unknown;
  close(): void;
}

/** Everything or nothing, for a connection that knows whether it is in a transaction. */
export function transaction<Result>(
  database: Pick<Database, "exec">,
  isOpen: () => boolean,
  work: () => Result,
): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // Some failures, such as a full disk, have ended the transaction already.
    if (isOpen()) database.exec("ROLLBACK");
    throw error;
  }
}
