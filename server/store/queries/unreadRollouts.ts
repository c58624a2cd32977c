/**
 * Rows of rollouts, made a step at a time out of the logs, or out of another trainer's files: when somebody asks for them, or
 * when the run has ended.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import type { UnreadStep } from "../../../shared/protocol/protocol.ts";
import { readRollouts, type LogProblem } from "../../../shared/log/reader.ts";
import { everyLine, type RecordPlace } from "../../../shared/log/recordAt.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import { isLost } from "../../analysis/imported/isLost.ts";
import type { Apply } from "../ingest/apply.ts";
import type { Database, Statement } from "../drivers/database.ts";
import { runFolder } from "../files.ts";
import { readers } from "../imported/readers.ts";
import type { PlacedRows } from "./placedRows.ts";
import { boundsOf, isWhole, type StepRange } from "./steps.ts";

type Place = Pick<RecordPlace, "attempt" | "segment" | "offset">;

/** Steps whose files have changed: of a question about several steps, the others are answered. */
export class LostSteps {
  private readonly found = new Map<string, UnreadStep>();

  has({ attempt, segment, offset }: Place): boolean {
    return this.found.has(`${attempt} ${segment} ${offset}`);
  }

  /** @throws what is no changed file */
  add({ attempt, segment, offset }: Place, step: number, error: unknown): void {
    if (!isLost(error)) throw error;
    const { file = "" } = error.detail;
    this.found.set(`${attempt} ${segment} ${offset}`, { step, message: error.message, file });
  }

  get all(): readonly UnreadStep[] {
    return [...this.found.values()].sort((a, b) => a.step - b.step);
  }
}

export class UnreadRollouts {
  private readonly first: Statement;
  private readonly firstOfPart: Statement;
  private readonly allOfPart: Statement;
  private readonly done: Statement;
  private readonly anyOfOthers: Statement;
  private readonly countOf: Statement;
  private placed: PlacedRows | undefined;

  constructor(
    private readonly database: Database,
    private readonly store: string,
    private readonly apply: Apply,
  ) {
    const select = "SELECT attempt, segment, offset, step FROM unread WHERE run = ?";
    this.first = database.prepare(`${select} LIMIT 1`);
    this.firstOfPart = database.prepare(`${select} AND step BETWEEN ? AND ? LIMIT 1`);
    this.allOfPart = database.prepare(`${select} AND step BETWEEN ? AND ?`);
    this.countOf = database.prepare("SELECT count(*) AS steps FROM unread WHERE run = ?");
    this.anyOfOthers = database.prepare("SELECT 1 FROM placed LIMIT 1");
    this.done = database.prepare(
      "DELETE FROM unread WHERE run = ? AND attempt = ? AND segment = ? AND offset = ?",
    );
  }

  /** Steps of a run whose rows are not made yet. */
  left(run: string): number {
    const { steps } = this.countOf.get(run) as { readonly steps: number };
    return steps;
  }

  /** Whether some run's rollouts lie in another trainer's files. */
  anyPlaced(): boolean {
    return this.anyOfOthers.get() !== undefined;
  }

  /**
   * Makes the rows of one step that has none yet, of a part of the run where one is named; false when there is none left.
   * @param lost gets a step whose file has changed, and leaves it out; without it that is an error
   */
  next(run: string, part: StepRange = {}, lost?: LostSteps): boolean {
    const found =
      lost !== undefined && lost.all.length > 0
        ? this.allOfPart.all(run, ...boundsOf(part)).find((one) => !lost.has(asUnread(one)))
        : isWhole(part)
          ? this.first.get(run)
          : this.firstOfPart.get(run, ...boundsOf(part));
    if (found === undefined) return false;
    const unread = asUnread(found);
    try {
      this.read(run, unread);
    } catch (error) {
      if (lost === undefined) throw error;
      lost.add(unread, unread.step, error);
    }
    return true;
  }

  /**
   * Where the rollouts of a step lie that another trainer wrote, as whole files; undefined: it is no such step, or it has its
   * rows.
   */
  placesIn(run: string, step: number): readonly RecordPlace[] | undefined {
    const found = this.firstOfPart.get(run, step, step);
    if (found === undefined) return undefined;
    const { attempt, segment, offset } = asUnread(found);
    const [read] = readRollouts(runFolder(this.store, run), attempt, { segment, offset }).steps;
    const places: RecordPlace[] = [];
    for (const [index, record] of read?.records.entries() ?? []) {
      if (record.kind !== "placed") return undefined;
      const at = read?.offsets[index] ?? offset;
      if (record.use === undefined) places.push({ attempt, segment, offset: at, line: everyLine });
    }
    return places.length === 0 ? undefined : places;
  }

  private read(run: string, { attempt, segment, offset }: Place): void {
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

const asUnread = (row: unknown): Place & { readonly step: number } =>
  row as Place & { readonly step: number };
