/** Prepared statements by their text, each prepared once. */
import type { Database, SqlValues, Statement } from "./database.ts";

export class Statements {
  private readonly prepared = new Map<string, Statement>();

  constructor(private readonly database: Database) {}

  /** For a text that does not vary with what is asked: it is kept. */
  of(sql: string): Statement {
    const known = this.prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.database.prepare(sql);
    this.prepared.set(sql, statement);
    return statement;
  }

  /** For a text made for one question. */
  once(sql: string): Statement {
    return this.database.prepare(sql);
  }

  run(sql: string, ...values: SqlValues): ReturnType<Statement["run"]> {
    return this.of(sql).run(...values);
  }
}

/** Condition: the column holds an id of a run (see shared/run/runId.ts). A file that came from elsewhere may hold others. */
export const isRunIdSql = (column: string): string =>
  `${column} GLOB '[A-Za-z0-9_-]*' AND ${column} NOT GLOB '*[^A-Za-z0-9._-]*' AND length(${column}) <= 200`;

/** Rows come from our own STRICT tables: what they hold is known from the statement. */
export const rows = <Row>(values: readonly unknown[]): readonly Row[] => values as readonly Row[];
export const row = <Row>(value: unknown): Row | undefined => value as Row | undefined;

/** A text column that may hold a NUL, to be read with `textOf`: one driver ends a text there. */
export const wholeText = (column: string, name: string): string => `CAST(${column} AS BLOB) AS ${name}`;
export type WholeText = Buffer | null;
export function textOf(value: Buffer): string;
export function textOf(value: WholeText): string | null;
export function textOf(value: WholeText): string | null {
  return value === null ? null : value.toString("utf8");
}
