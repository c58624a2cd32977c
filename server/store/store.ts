/** A store opened in this thread: its tables, what reads the logs into them, and what answers from them. */
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { isRunId } from "../../shared/run/runId.ts";
import type { RunStatus } from "../../shared/protocol/protocol.ts";
import type { Database } from "./drivers/database.ts";
import { openDatabase } from "./drivers/driver.ts";
import { databasePath, runIds, runsFolder, trashPrefix } from "./files.ts";
import { loadReaders } from "./imported/readers.ts";
import { Ingest } from "./ingest/ingest.ts";
import { isFull } from "./drivers/fullDisk.ts";
import { claim, release } from "./drivers/owner.ts";
import { queriesOf, type Queries } from "./queries/queries.ts";
import { migrate, rowKeys, runTables } from "./schema.ts";
import { SearchQueries } from "./search/searchQueries.ts";
import { TextIndex } from "./search/textIndex.ts";

/** Rows deleted in one go. */
const purgeRows = 2_000;

/** Prompts and answers of runs are nobody else's to read. What SQLite makes next to the file has the file's mode. */
function keepPrivate(path: string): void {
  for (const ending of ["", "-wal", "-shm"])
    if (existsSync(`${path}${ending}`)) chmodSync(`${path}${ending}`, 0o600);
}

export class Store {
  readonly queries: Queries;
  readonly ingest: Ingest;
  /** The words of answers. */
  readonly texts: TextIndex;
  readonly searches: SearchQueries;
  readonly driver: string;
  private readonly database: Database;

  /**
   * @param folder the `.gradus` folder; made when absent
   * @param options owned: this process serves the store, and no other may meanwhile; inMemory: nothing is written
   */
  constructor(
    private readonly folder: string,
    private readonly options: {
      readonly anyThread?: boolean;
      readonly owned?: boolean;
      readonly inMemory?: boolean;
    } = {},
  ) {
    const inMemory = options.inMemory === true;
    if (!inMemory) mkdirSync(runsFolder(folder), { recursive: true });
    const opened = openDatabase(inMemory ? ":memory:" : databasePath(folder), options);
    this.database = opened.database;
    if (!inMemory) keepPrivate(databasePath(folder));
    this.driver = opened.driver;
    try {
      migrate(this.database, databasePath(folder));
      if (options.owned === true) claim(this.database, databasePath(folder));
      this.ingest = new Ingest(this.database, folder);
      this.texts = new TextIndex(this.database);
      this.searches = new SearchQueries(this.database, this.texts);
      this.queries = queriesOf(this.database, folder, this.ingest.rollouts);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Runs whose folders are there; those not known yet become known. */
  scan(): readonly { readonly run: string; readonly status: RunStatus; readonly attempt: number }[] {
    return runIds(this.folder).map((id) => {
      const { status, attempt } = this.ingest.register(id);
      return { run: id, status, attempt };
    });
  }

  /** Before questions are asked: an imported run's rollouts are read by what is loaded only then. */
  async ready(): Promise<void> {
    if (this.ingest.rollouts.anyPlaced()) await loadReaders();
  }

  /** Runs that were deleted while something kept their folder from going. */
  trashed(): readonly string[] {
    const folder = runsFolder(this.folder);
    return existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.startsWith(trashPrefix))
          .map((name) => name.slice(trashPrefix.length))
          .filter(isRunId)
      : [];
  }

  /** Reads everything there is of one run: for tools and tests; the thread does it in slices. */
  ingestAll(run: string): void {
    while (this.ingest.slice(run));
  }

  /** The run is gone at once; `purge` then takes its rows away, a batch at a call, until it answers false. */
  forgetRun(run: string): void {
    this.database.transaction(() => {
      this.database.prepare("DELETE FROM run WHERE id = ?").run(run);
      this.ingest.changeDeleted(run);
    });
    this.ingest.forget();
  }

  purge(run: string): boolean {
    if (this.purgePoints(run)) return true;
    for (const table of runTables) {
      const key = rowKeys[table] ?? "(run, attempt, step, ordinal)";
      const chosen = key.replace(/[()]/g, "");
      const changes = this.database.transaction(() => {
        if (table === "rollout") this.texts.forget(run, purgeRows);
        const gone = this.database
          .prepare(
            `DELETE FROM ${table} WHERE ${key} IN (SELECT ${chosen} FROM ${table} WHERE run = ? LIMIT ?)`,
          )
          .run(run, purgeRows);
        if (table === "rollout") this.texts.settle();
        return gone.changes;
      });
      if (changes > 0) return true;
    }
    return false;
  }

  private purgePoints(run: string): boolean {
    return [
      "DELETE FROM point WHERE (series, attempt, step) IN (SELECT p.series, p.attempt, p.step FROM series s JOIN point p ON p.series = s.id WHERE s.run = ? LIMIT ?)",
      "DELETE FROM level WHERE (series, attempt, first) IN (SELECT l.series, l.attempt, l.first FROM series s JOIN level l ON l.series = s.id WHERE s.run = ? LIMIT ?)",
      "DELETE FROM packed WHERE rowid IN (SELECT p.rowid FROM series s JOIN packed p ON p.series = s.id WHERE s.run = ? LIMIT ?)",
    ].some((sql) => this.database.prepare(sql).run(run, purgeRows).changes > 0);
  }

  /** Lets go of a database that cannot be asked any more. */
  abandon(): void {
    this.database.close();
  }

  close(): void {
    try {
      if (this.options.owned === true) release(this.database);
      this.database.pragma("wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // What is left in the journal is taken in when the store is opened next.
      if (!isFull(error)) throw error;
    }
    this.database.close();
  }
}
