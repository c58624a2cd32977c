/**
 * Rows of rollouts, made a step at a time out of the logs, or out of another trainer's files: when somebody asks for them, or
 * when the run has ended.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { readRollouts, type LogProblem } from "../../../shared/log/reader.ts";
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import type { Apply } from "../ingest/apply.ts";
import type { Database, Statement } from "../drivers/database.ts";
import { runFolder } from "../files.ts";
import { readers } from "../imported/readers.ts";
import type { PlacedRows } from "./placedRows.ts";
import { boundsOf, isWhole, type StepRange } from "./steps.ts";

interface UnreadStep {
  readonly attempt: number;
  readonly segment: number;
  readonly offset: number;
}

export class UnreadRollouts {
  private readonly first: Statement;
  private readonly firstOfPart: Statement;
  private readonly done: Statement;
  private readonly anyOfOthers: Statement;
  private placed: PlacedRows | undefined;

  constructor(
    private readonly database: Database,
    private readonly store: string,
    private readonly apply: Apply,
  ) {
    const select = "SELECT attempt, segment, offset FROM unread WHERE run = ?";
    this.first = database.prepare(`${select} LIMIT 1`);
    this.firstOfPart = database.prepare(`${select} AND step BETWEEN ? AND ? LIMIT 1`);
    this.anyOfOthers = database.prepare("SELECT 1 FROM placed LIMIT 1");
    this.done = database.prepare(
      "DELETE FROM unread WHERE run = ? AND attempt = ? AND segment = ? AND offset = ?",
    );
  }

  /** Whether some run's rollouts lie in another trainer's files. */
  anyPlaced(): boolean {
    return this.anyOfOthers.get() !== undefined;
  }

  /** Makes the rows of one step that has none yet, of a part of the run where one is named; false when there is none left. */
  next(run: string, part: StepRange = {}): boolean {
    const found = isWhole(part) ? this.first.get(run) : this.firstOfPart.get(run, ...boundsOf(part));
    if (found === undefined) return false;
    this.read(run, asUnread(found));
    return true;
  }

  private read(run: string, { attempt, segment, offset }: UnreadStep): void {
    const folder = runFolder(this.store, run);
    const { steps, problems } = readRollouts(folder, attempt, { segment, offset });
    const [step] = steps;
    if (step === undefined) throw this.lost(segmentPath(folder, attempt, segment), problems[0]);
    try {
      this.database.transaction(() => {
        const families = this.apply.rows.families(run, attempt, step.step);
        step.records.forEach((record, index) => {
          const place: RecordPlace = { attempt, segment, offset: step.offsets[index] ?? offset };
          if (record.kind === "placed") this.placedRows().add(run, place, record);
          if (record.kind === "rollout")
            this.apply.rows.rollout(run, place, record, families.get(record.row.group));
        });
        this.apply.rows.groupTokens(run, attempt, step.step);
        for (const problem of problems) this.apply.problem({ id: run, step: step.step }, attempt, problem);
        this.done.run(run, attempt, segment, offset);
      });
    } catch (error) {
      this.apply.forget();
      throw error;
    }
  }

  private placedRows(): PlacedRows {
    return (this.placed ??= new (readers().PlacedRows)(this.database, this.store, this.apply));
  }

  /** The step was whole when it was first read. It stays unread: the file may come back. */
  private lost(file: string, problem: LogProblem | undefined): UserError {
    return new UserError(
      `Rollouts cannot be read from the run's log: ${problem?.message ?? "the file is gone or has been cut short."}`,
      { file, action: "Restore the file, or delete the run: gradus runs delete." },
    );
  }
}

const asUnread = (row: unknown): UnreadStep => row as UnreadStep;
