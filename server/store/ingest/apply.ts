/** One committed step's records as rows. Called inside a transaction only. */
import type {
  AcknowledgeRecord,
  EndRecord,
  MetricsRecord,
  StartRecord,
} from "../../../shared/log/records.ts";
import type { PlainRecord } from "../../../shared/log/codec.ts";
import type { CommittedStep, LogProblem } from "../../../shared/log/reader.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import { Changes } from "./changes.ts";
import type { Database } from "../drivers/database.ts";
import { controlAction } from "../files.ts";
import { Ids } from "./ids.ts";
import { RecordRows } from "./recordRows.ts";
import type { RunState } from "./runState.ts";
import { row, Statements } from "../drivers/statements.ts";

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

export class Apply {
  readonly changes: Changes;
  readonly rows: RecordRows;
  private readonly statements: Statements;
  private readonly ids: Ids;

  constructor(database: Database) {
    this.statements = new Statements(database);
    this.ids = new Ids(this.statements);
    this.changes = new Changes(this.statements);
    this.rows = new RecordRows(this.statements, this.ids, this.changes);
  }

  step(
    run: RunState,
    folder: string,
    attempt: number,
    { step, records, begin, later, position }: CommittedStep<PlainRecord>,
  ): void {
    let metrics: MetricsRecord | undefined;
    for (const record of records) {
      if (record.kind === "metrics") metrics = record;
      this.record(run, folder, attempt, record);
    }
    if (later > 0 || records.some(({ kind }) => kind === "placed"))
      this.statements.run(
        "INSERT INTO unread VALUES (?, ?, ?, ?, ?)",
        run.id,
        attempt,
        position.segment,
        begin,
        step,
      );
    run.step = Math.max(run.step, step);
    this.statements.run(
      "UPDATE attempt SET last_step = max(last_step, ?) WHERE run = ? AND attempt = ?",
      step,
      run.id,
      attempt,
    );
    if (metrics !== undefined) this.changes.add(run.id, "step", metrics.step, metricsOf(metrics));
  }

  private record(run: RunState, folder: string, attempt: number, record: PlainRecord): void {
    switch (record.kind) {
      case "start":
        return this.start(run, attempt, record);
      case "metrics":
        return this.rows.metrics(run, attempt, record);
      case "group":
        return this.rows.group(run.id, attempt, record);
      case "event":
        return this.rows.event(run.id, attempt, record);
      case "evaluation":
        return this.rows.evaluation(run, attempt, record);
      case "checkpoint":
        this.statements.run(
          "INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)",
          run.id,
          attempt,
          record.step,
          this.ids.ordinal("checkpoint", run.id, attempt, record.step),
          record.path,
          record.bytes,
        );
        return this.changes.add(run.id, "checkpoint", record.step);
      case "stage":
        run.stage = record.name;
        this.statements.run(
          "INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?)",
          run.id,
          attempt,
          record.step,
          this.ids.ordinal("stage", run.id, attempt, record.step),
          record.index,
          record.name,
          record.stage_kind,
        );
        return this.changes.add(run.id, "status", record.step);
      case "task":
        return this.rows.task(run.id, attempt, record);
      case "criteria":
        return this.rows.criteria(run.id, record);
      case "placed":
        return this.rows.placed(run.id, attempt, record);
      case "acknowledge":
        return this.acknowledge(run, folder, record);
      case "end":
        return this.end(run, attempt, record);
      case "commit":
        return;
    }
  }

  /** Earlier attempts keep their rows; those from `resumed_at` on are no longer the run's. */
  private start(run: RunState, attempt: number, record: StartRecord): void {
    const { backend } = record;
    const from = record.resumed_at ?? -1;
    this.statements.run(
      "UPDATE attempt SET superseded_from = min(coalesce(superseded_from, ?), ?) WHERE run = ? AND attempt < ?",
      from,
      from,
      run.id,
      attempt,
    );
    this.statements.run(
      "UPDATE attempt SET started_at = ?, resumed_at = ?, bundles = ? WHERE run = ? AND attempt = ?",
      record.started_at,
      record.resumed_at,
      JSON.stringify(record.bundles),
      run.id,
      attempt,
    );
    Object.assign(run, {
      name: record.name,
      file: record.file,
      status: "running",
      message: null,
      attempt,
      step: record.resumed_at === null ? -1 : record.resumed_at - 1,
      steps: record.steps,
      started_at: run.started_at ?? record.started_at,
      ended_at: null,
      backend: backend.name,
      backend_reason: backend.reason,
      device: backend.device,
      seed: record.seed,
      authored: record.authored,
      config: JSON.stringify(record.config),
      git: record.git === null ? null : JSON.stringify(record.git),
      version: record.version,
      last: null,
      origin: record.origin === undefined ? null : JSON.stringify(record.origin),
    } satisfies Partial<RunState>);
    this.changes.add(run.id, "status", run.step);
  }

  private acknowledge(run: RunState, folder: string, { id, accepted, step }: AcknowledgeRecord): void {
    const action = controlAction(folder, id);
    if (action === "pause" && accepted) run.status = "paused";
    else if (action === "continue" && accepted) run.status = "running";
    else if (action === "stop") run.status = accepted ? "stopping" : "running";
    else return;
    this.changes.add(run.id, "status", step);
  }

  private end(run: RunState, attempt: number, record: EndRecord): void {
    Object.assign(run, {
      status: record.status,
      message: record.message === "" ? null : record.message,
      ended_at: record.ended_at,
      ...(record.counted === undefined || run.origin === null
        ? {}
        : {
            origin: JSON.stringify({ ...JSON.parse(run.origin), ...record.counted }),
            steps: Math.max(run.steps, record.step + 1),
          }),
    } satisfies Partial<RunState>);
    this.statements.run(
      "UPDATE attempt SET ended = ? WHERE run = ? AND attempt = ?",
      record.status,
      run.id,
      attempt,
    );
    this.changes.add(run.id, "status", record.step);
  }

  /** Damage in the log, as an event of the run. */
  problem(run: Pick<RunState, "id" | "step">, attempt: number, problem: LogProblem): void {
    const { name, severity, message, file, missing } = problem;
    const damage =
      missing === undefined
        ? undefined
        : damageText(problem, missing, attempt, this.lastStep(run.id, attempt));
    this.rows.event(run.id, attempt, {
      kind: "event",
      step: run.step,
      time: Date.now(),
      severity,
      name,
      message: damage?.message ?? `${file}: ${message}`,
      ...(damage && { action: damage.action }),
    });
  }
  private lastStep(run: string, attempt: number): number {
    const found = this.statements
      .of("SELECT last_step FROM attempt WHERE run = ? AND attempt = ?")
      .get(run, attempt);
    return row<{ last_step: number }>(found)?.last_step ?? -1;
  }

  /** A run was deleted, or a transaction rolled back: ids found before may mean nothing any more. */
  forget(): void {
    this.ids.forget();
    this.rows.forget();
  }
}

/** What a person has lost, and what can be done. */
function damageText(
  { file, message }: LogProblem,
  missing: number,
  attempt: number,
  last: number,
): { readonly message: string; readonly action: string } {
  const from = last < 0 ? "from its start on" : `after step ${last}`;
  return {
    message: `${file}: ${message} What attempt ${attempt} logged ${from} is missing: ${missing} bytes of this file.`,
    action:
      "If you have a complete copy of the file, restore it, stop the daemon (gradus daemon stop) and remove store.sqlite: it is rebuilt from the logs. Checkpoints stay as they are.",
  };
}

const metricsOf = (record: MetricsRecord): Record<string, number | null> =>
  Object.fromEntries(
    Object.entries(record.values).map(([name, value]) => [name, finiteOrNull(fromWire(value))]),
  );
