/**
 * From a run's log into the tables, exactly once: the transaction that inserts a step's rows also moves the attempt's
 * position after that step's commit. A crash before it leaves nothing, after it everything.
 */
import { attemptsOf, readPlain, type LogPosition } from "../../../shared/log/reader.ts";
import { Apply } from "./apply.ts";
import type { Database, Statement } from "../drivers/database.ts";
import { readRunFile, runFolder } from "../files.ts";
import { UnreadRollouts } from "../queries/unreadRollouts.ts";
import { emptyRun, RunRows, type RunState } from "./runState.ts";

/** Bytes of log a slice reads: a few milliseconds of inserts. */
const sliceBytes = 64 * 1024;

interface AttemptRow {
  readonly attempt: number;
  readonly segment: number;
  readonly offset: number;
  readonly stopped: number;
}

export class Ingest {
  readonly rollouts: UnreadRollouts;
  private readonly runs: RunRows;
  private readonly apply: Apply;
  private readonly attempts: Statement;
  private readonly addAttempt: Statement;
  private readonly advance: Statement;

  constructor(
    private readonly database: Database,
    private readonly store: string,
  ) {
    this.runs = new RunRows(database);
    this.apply = new Apply(database);
    this.rollouts = new UnreadRollouts(database, store, this.apply);
    this.attempts = database.prepare("SELECT attempt, segment, offset, stopped FROM attempt WHERE run = ?");
    this.addAttempt = database.prepare(
      "INSERT INTO attempt(run, attempt, last_step, segment, offset, stopped) VALUES (?, ?, -1, 0, 0, 0)",
    );
    this.advance = database.prepare(
      "UPDATE attempt SET segment = @segment, offset = @offset, stopped = @stopped WHERE run = @run AND attempt = @attempt AND segment = @fromSegment AND offset = @fromOffset",
    );
  }

  /** Makes a run known before its log exists. */
  register(id: string, startKey: string | null = null): RunState {
    const present = this.runs.read(id);
    if (present !== undefined) return present;
    const file = readRunFile(runFolder(this.store, id));
    const run = {
      ...emptyRun(id, file?.createdAt ?? new Date().toISOString()),
      ...(file === null ? {} : { name: file.name, file: file.file, seed: file.seed ?? null }),
    };
    this.database.transaction(() => {
      // A daemon of another runtime folder may serve this store, too, and have seen the run's folder first.
      if (this.runs.read(id) !== undefined) return;
      this.runs.add(run, startKey);
      this.apply.changes.add(id, "created", -1);
    });
    return this.runs.read(id) ?? run;
  }

  recordedStatus(id: string): RunState["status"] | undefined {
    return this.runs.read(id)?.status;
  }

  /** One slice of one run; true while there is more to read. Attempts are read in order: a resumed one comes after what it resumes. */
  slice(id: string): boolean {
    this.register(id);
    const folder = runFolder(this.store, id);
    const known = new Map(this.attempts.all(id).map((row) => [asAttempt(row).attempt, asAttempt(row)]));
    for (const attempt of attemptsOf(folder)) {
      const row = known.get(attempt);
      const from: LogPosition =
        row === undefined
          ? { segment: 0, offset: 0 }
          : { segment: row.segment, offset: row.offset, stopped: row.stopped === 1 };
      const read = readPlain(folder, attempt, from, sliceBytes);
      const moved =
        read.position.segment !== from.segment ||
        read.position.offset !== from.offset ||
        (read.position.stopped === true) !== (from.stopped === true);
      if (moved || row === undefined) this.write(id, attempt, row === undefined, from, read);
      if (read.more) return true;
    }
    return false;
  }

  private write(
    id: string,
    attempt: number,
    isNew: boolean,
    from: LogPosition,
    read: ReturnType<typeof readPlain>,
  ): void {
    this.atomically(() => {
      const run = this.runs.read(id) ?? emptyRun(id, new Date().toISOString());
      if (isNew) this.addAttempt.run(id, attempt);
      for (const step of read.steps) this.apply.step(run, runFolder(this.store, id), attempt, step);
      for (const problem of read.problems) this.apply.problem(run, attempt, problem);
      const { changes } = this.advance.run({
        run: id,
        attempt,
        segment: read.position.segment,
        offset: read.position.offset,
        stopped: read.position.stopped === true ? 1 : 0,
        fromSegment: from.segment,
        fromOffset: from.offset,
      });
      if (changes !== 1) throw new Error(`another process has read attempt ${attempt} of ${id} meanwhile`);
      this.runs.write(run);
    });
  }

  private atomically(work: () => void): void {
    try {
      this.database.transaction(work);
    } catch (error) {
      this.apply.forget();
      throw error;
    }
  }

  /** Ids of deleted rows are forgotten. */
  forget(): void {
    this.apply.forget();
  }

  /** A status that no log record brings: the daemon asked for it, or found the worker dead. */
  setStatus(id: string, status: RunState["status"], message: string | null, attempt?: number): void {
    this.atomically(() => {
      const run = this.runs.read(id);
      if (run === undefined) return;
      Object.assign(run, {
        status,
        message,
        ...(attempt === undefined ? {} : { attempt }),
        ...(status === "interrupted" ? { ended_at: new Date().toISOString() } : {}),
        ...(status === "starting" ? { ended_at: null } : {}),
      });
      this.runs.write(run);
      this.apply.changes.add(id, "status", run.step);
    });
  }

  /** What people say of a run is in its folder; who follows the store asks for its summary again. */
  marked(id: string): void {
    this.atomically(() => {
      const run = this.runs.read(id);
      if (run !== undefined) this.apply.changes.add(id, "status", run.step);
    });
  }

  changeDeleted(id: string): void {
    this.apply.changes.add(id, "deleted", -1);
  }
}

const asAttempt = (row: unknown): AttemptRow => row as AttemptRow;
