/**
 * The words of answers, in an index of SQLite's FTS5 next to the tables: made when somebody first searches, a few rows at a time.
 * It holds no texts: those are in `rollout`. Where SQLite has no FTS5, there is none, and texts are looked through.
 */
import { isDamage } from "../drivers/damaged.ts";
import type { Database } from "../drivers/database.ts";
import { row, rows, Statements, textOf, type WholeText } from "../drivers/statements.ts";

/** Rows of one transaction: some milliseconds. */
const slice = 64;

const tables = `
CREATE VIRTUAL TABLE IF NOT EXISTS response_index USING fts5(response, content='', contentless_delete=1, tokenize='unicode61');
CREATE TABLE IF NOT EXISTS response_indexed(only_one INTEGER PRIMARY KEY CHECK(only_one = 1), upto INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO response_indexed VALUES (1, 0);
`;

export class TextIndex {
  private readonly statements: Statements;
  private state: "unknown" | "there" | "impossible" = "unknown";

  constructor(private readonly database: Database) {
    this.statements = new Statements(database);
  }

  /** Whether words can be looked up; the tables are made if need be. */
  make(): boolean {
    if (this.state !== "unknown") return this.state === "there";
    try {
      this.database.transaction(() => this.database.exec(tables));
      this.state = "there";
    } catch (error) {
      if (isDamage(error) || !/fts5|no such module|unrecognized/i.test(String(error))) throw error;
      this.state = "impossible";
    }
    return this.state === "there";
  }

  /** Whether somebody has searched this store. */
  exists(): boolean {
    if (this.state === "unknown") {
      const found = this.statements.of("SELECT 1 FROM sqlite_master WHERE name = 'response_indexed'").get();
      if (found !== undefined) this.state = "there";
    }
    return this.state === "there";
  }

  /** Takes in the next rows; false when there are no more. */
  next(): boolean {
    if (!this.exists()) return false;
    return this.database.transaction(() => {
      const found = rows<{ id: number; response: WholeText }>(
        this.statements
          .of("SELECT id, CAST(response AS BLOB) AS response FROM rollout WHERE id > ? ORDER BY id LIMIT ?")
          .all(this.upto, slice),
      );
      for (const { id, response } of found)
        if (response !== null)
          this.statements.run(
            "INSERT INTO response_index(rowid, response) VALUES (?, ?)",
            id,
            textOf(response).replaceAll("\0", " "),
          );
      const last = found.at(-1);
      if (last !== undefined) this.statements.run("UPDATE response_indexed SET upto = ?", last.id);
      return found.length === slice;
    });
  }

  /** Rows that are in the index, and rows. */
  progress(): { readonly done: number; readonly of: number } {
    const count = (sql: string, ...values: readonly unknown[]): number =>
      row<{ n: number }>(this.statements.of(sql).get(...values))?.n ?? 0;
    const of = count("SELECT count(*) AS n FROM rollout");
    if (!this.exists()) return { done: 0, of };
    return { done: of - count("SELECT count(*) AS n FROM rollout WHERE id > ?", this.upto), of };
  }

  /** Before rows of a run go. Inside a transaction. @param limit as many of them as go now */
  forget(run: string, limit: number): void {
    if (!this.exists()) return;
    this.statements.run(
      "DELETE FROM response_index WHERE rowid IN (SELECT id FROM rollout WHERE run = ? LIMIT ?)",
      run,
      limit,
    );
  }

  /** After rows have gone: the next new one may have the number of one of them. Inside a transaction. */
  settle(): void {
    if (this.exists())
      this.statements.run(
        "UPDATE response_indexed SET upto = min(upto, (SELECT coalesce(max(id), 0) FROM rollout))",
      );
  }

  private get upto(): number {
    return row<{ upto: number }>(this.statements.of("SELECT upto FROM response_indexed").get())?.upto ?? 0;
  }
}
