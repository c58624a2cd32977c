/** One committed step's records as rows. Called inside a transaction only. */
import { createHash } from "node:crypto";
import type {
  AcknowledgeRecord,
  EndRecord,
  EvaluationRecord,
  EventRecord,
  GroupRecord,
  LogRecord,
  MetricsRecord,
  RolloutRecordLog,
  StartRecord,
} from "../../shared/log/records.ts";
import { fromWire, type MaybeNumber } from "../../shared/rollouts.ts";
import type { Change } from "../../shared/protocol.ts";
import { packColumns } from "./columns.ts";
import type { Database, Statement } from "./driver.ts";
import { controlAction } from "./files.ts";
import type { RunState } from "./runState.ts";

const headlineNames = ["reward/total", "eval/pass@1"];
/** Changes kept for clients that were away. */
export const keptChanges = 20_000;

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);
/** SQLite keeps infinities; NaN becomes NULL. */
const real = (value: MaybeNumber | undefined): number | null => {
  if (value === undefined || value === null) return null;
  const number = fromWire(value);
  return Number.isNaN(number) ? null : number;
};
const flag = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value));

type Numbered = "grp" | "rollout" | "event" | "evaluation" | "checkpoint" | "stage";

export class Apply {
  private readonly statements = new Map<string, Statement>();
  private readonly seriesIds = new Map<string, number>();
  private readonly promptIds = new Map<string, number>();

  constructor(private readonly database: Database) {}

  step(run: RunState, folder: string, attempt: number, step: number, records: readonly LogRecord[]): void {
    let metrics: MetricsRecord | undefined;
    for (const record of records) {
      if (record.kind === "metrics") metrics = record;
      this.record(run, folder, attempt, record);
    }
    run.step = Math.max(run.step, step);
    this.run(
      "UPDATE attempt SET last_step = max(last_step, ?) WHERE run = ? AND attempt = ?",
      step,
      run.id,
      attempt,
    );
    if (metrics !== undefined) this.change(run.id, "step", metrics.step, metricsOf(metrics));
  }

  private record(run: RunState, folder: string, attempt: number, record: LogRecord): void {
    switch (record.kind) {
      case "start":
        return this.start(run, attempt, record);
      case "metrics":
        return this.metrics(run, attempt, record);
      case "group":
        return this.group(run.id, attempt, record);
      case "rollout":
        return this.rollout(run.id, attempt, record);
      case "event":
        return this.event(run.id, attempt, record);
      case "evaluation":
        return this.evaluation(run, attempt, record);
      case "checkpoint":
        this.run(
          "INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)",
          run.id,
          attempt,
          record.step,
          this.ordinal("checkpoint", run.id, attempt, record.step),
          record.path,
          record.bytes,
        );
        return this.change(run.id, "checkpoint", record.step);
      case "stage":
        run.stage = record.name;
        this.run(
          "INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?)",
          run.id,
          attempt,
          record.step,
          this.ordinal("stage", run.id, attempt, record.step),
          record.index,
          record.name,
          record.stage_kind,
        );
        return this.change(run.id, "status", record.step);
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
    this.run(
      "UPDATE attempt SET superseded_from = min(coalesce(superseded_from, ?), ?) WHERE run = ? AND attempt < ?",
      from,
      from,
      run.id,
      attempt,
    );
    this.run(
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
    } satisfies Partial<RunState>);
    this.change(run.id, "status", run.step);
  }

  private metrics(run: RunState, attempt: number, record: MetricsRecord): void {
    const headline: Record<string, number> = JSON.parse(run.headline);
    for (const [name, wire] of Object.entries(record.values)) {
      const value = fromWire(wire);
      this.run(
        "INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)",
        this.series(run.id, name),
        attempt,
        record.step,
        Number.isNaN(value) ? null : value,
      );
      if (headlineNames.includes(name) && Number.isFinite(value)) headline[name] = value;
    }
    run.headline = JSON.stringify(headline);
    this.run("INSERT OR REPLACE INTO clock VALUES (?, ?, ?, ?)", run.id, attempt, record.step, record.time);
  }

  private group(run: string, attempt: number, record: GroupRecord): void {
    const { step, group, task, arm, admitted, reason, successes, size, signal } = record;
    this.run(
      "INSERT INTO grp VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run,
      attempt,
      step,
      this.ordinal("grp", run, attempt, step),
      group,
      task,
      arm,
      Number(admitted),
      reason,
      successes,
      size,
      real(signal),
    );
  }

  private rollout(run: string, attempt: number, { step, row, columns }: RolloutRecordLog): void {
    const { prompt, response, run: _, ...body } = row;
    const ordinal = this.ordinal("rollout", run, attempt, step);
    const packed = packColumns(columns);
    this.run(
      `INSERT INTO rollout(run, attempt, step, ordinal, name, idx, task, env, arm, prompt, response, finish, source, use, reward, advantage, admitted, tokens, body, columns)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      run,
      attempt,
      step,
      ordinal,
      row.group,
      row.index,
      row.task?.id ?? null,
      row.task?.env ?? null,
      row.task?.arm ?? null,
      prompt === undefined ? null : this.prompt(run, prompt),
      response ?? null,
      row.finish ?? null,
      row.source ?? null,
      row.use ?? null,
      real(row.reward),
      real(row.advantage),
      flag(row.admitted),
      columns.tokens?.length ?? null,
      JSON.stringify(body),
      packed,
    );
  }

  event(run: string, attempt: number, record: EventRecord): void {
    const { step, time, severity, name, message, action, data } = record;
    this.run(
      "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run,
      attempt,
      step,
      this.ordinal("event", run, attempt, step),
      time,
      severity,
      name,
      message,
      action ?? null,
      JSON.stringify(data ?? null),
    );
    this.change(run, "event", step);
  }

  private evaluation(run: RunState, attempt: number, record: EvaluationRecord): void {
    const metrics = JSON.stringify(record.metrics);
    this.run(
      "INSERT INTO evaluation VALUES (?, ?, ?, ?, ?, ?, ?)",
      run.id,
      attempt,
      record.step,
      this.ordinal("evaluation", run.id, attempt, record.step),
      record.time,
      record.role,
      metrics,
    );
    if (record.role === "first") run.first = metrics;
    if (record.role === "last") run.last = metrics;
    const pass = record.metrics["eval/pass@1"];
    if (pass !== undefined)
      run.headline = JSON.stringify({ ...JSON.parse(run.headline), "eval/pass@1": pass });
    for (const [name, value] of Object.entries(record.metrics)) {
      this.run(
        "INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)",
        this.series(run.id, name),
        attempt,
        record.step,
        real(value),
      );
    }
    this.change(run.id, "evaluation", record.step, record.metrics);
  }

  private acknowledge(run: RunState, folder: string, { id, accepted, step }: AcknowledgeRecord): void {
    const action = controlAction(folder, id);
    if (action === "pause" && accepted) run.status = "paused";
    else if (action === "continue" && accepted) run.status = "running";
    else if (action === "stop") run.status = accepted ? "stopping" : "running";
    else return;
    this.change(run.id, "status", step);
  }

  private end(run: RunState, attempt: number, record: EndRecord): void {
    Object.assign(run, {
      status: record.status,
      message: record.message === "" ? null : record.message,
      ended_at: record.ended_at,
    } satisfies Partial<RunState>);
    this.run("UPDATE attempt SET ended = ? WHERE run = ? AND attempt = ?", record.status, run.id, attempt);
    this.change(run.id, "status", record.step);
  }

  change(
    run: string,
    kind: Change["kind"],
    step: number,
    metrics?: Readonly<Record<string, number | null>>,
  ): void {
    const { lastInsertRowid } = this.run(
      "INSERT INTO change(run, kind, step, metrics) VALUES (?, ?, ?, ?)",
      run,
      kind,
      step,
      metrics === undefined ? null : JSON.stringify(metrics),
    );
    if (Number(lastInsertRowid) % 1000 === 0)
      this.run("DELETE FROM change WHERE cursor <= ?", Number(lastInsertRowid) - keptChanges);
  }

  /** A run was deleted: its ids mean nothing any more. */
  forget(): void {
    this.seriesIds.clear();
    this.promptIds.clear();
  }

  /** Ids found inside a transaction that was rolled back would be wrong: they are looked up again. */
  private series(run: string, name: string): number {
    const key = `${run}\0${name}`;
    const known = this.seriesIds.get(key);
    if (known !== undefined) return known;
    this.run("INSERT OR IGNORE INTO series(run, name) VALUES (?, ?)", run, name);
    return remember(
      this.seriesIds,
      key,
      idOf(this.statement("SELECT id FROM series WHERE run = ? AND name = ?").get(run, name)),
    );
  }

  private prompt(run: string, text: string): number {
    const hash = createHash("sha1").update(text).digest();
    const key = `${run}\0${hash.toString("latin1")}`;
    const known = this.promptIds.get(key);
    if (known !== undefined) return known;
    this.run("INSERT OR IGNORE INTO prompt(run, hash, text) VALUES (?, ?, ?)", run, hash, text);
    return remember(
      this.promptIds,
      key,
      idOf(this.statement("SELECT id FROM prompt WHERE run = ? AND hash = ?").get(run, hash)),
    );
  }

  /** The next free number of a kind in a step: several commits may name one step. */
  private ordinal(table: Numbered, run: string, attempt: number, step: number): number {
    const row: unknown = this.statement(
      `SELECT coalesce(max(ordinal), -1) + 1 AS id FROM ${table} WHERE run = ? AND attempt = ? AND step = ?`,
    ).get(run, attempt, step);
    return idOf(row);
  }

  private run(
    sql: string,
    ...values: unknown[]
  ): { readonly changes: number; readonly lastInsertRowid: number | bigint } {
    return this.statement(sql).run(...values);
  }

  private statement(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

const idOf = (row: unknown): number => (row as { readonly id: number }).id;

function remember(ids: Map<string, number>, key: string, id: number): number {
  if (ids.size > 50_000) ids.clear();
  ids.set(key, id);
  return id;
}

const metricsOf = (record: MetricsRecord): Record<string, number | null> =>
  Object.fromEntries(
    Object.entries(record.values).map(([name, value]) => [name, finiteOrNull(fromWire(value))]),
  );
