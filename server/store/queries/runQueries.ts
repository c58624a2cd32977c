/** Questions about runs as wholes. */
import { resolve } from "node:path";
import { readBest } from "../../../shared/run/bestCheckpoint.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { RunOrigin } from "../../../shared/run/origin.ts";
import type { VerdictBrief } from "../../../shared/run/verdict.ts";
import type { RunWarning } from "../../../shared/run/outcome.ts";
import type { ConfigLens, RunDetail, RunStatus, RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { readWorker, workerIsAlive } from "../../../shared/run/lease.ts";
import { runFolder } from "../files.ts";
import { ExperimentFacts } from "./experimentFacts.ts";
import { asRun, type RunState } from "../ingest/runState.ts";
import { isRunIdSql, row, rows, type Statements } from "../drivers/statements.ts";
import { fromAnySystem } from "../../../shared/lib/slashes.ts";

/** Joins a table `r` with its attempt `a` and keeps what no later attempt replaced. */
export const effective =
  "JOIN attempt a ON a.run = r.run AND a.attempt = r.attempt AND (a.superseded_from IS NULL OR r.step < a.superseded_from)";

/** What other questions tell of a run. */
interface RunTold {
  readonly warnings: (run: RunState) => readonly RunWarning[];
  readonly verdict: (run: RunState, warnings: readonly RunWarning[]) => VerdictBrief | undefined;
}

export class RunQueries {
  private readonly experiments: ExperimentFacts;

  constructor(
    private readonly statements: Statements,
    private readonly store: string,
    private readonly told: RunTold,
  ) {
    this.experiments = new ExperimentFacts(statements, store);
  }

  show({ run: id }: { readonly run: string }): RunDetail {
    const run = this.existing(id);
    const attempts = rows<{
      attempt: number;
      started_at: string | null;
      resumed_at: number | null;
      last_step: number;
    }>(this.statements.of("SELECT * FROM attempt WHERE run = ? ORDER BY attempt").all(id));
    const folder = runFolder(this.store, id);
    const damaged = this.damage(id);
    const best = readBest(folder);
    return {
      ...this.summaryOf(run),
      folder,
      ...(best === undefined
        ? {}
        : { best: { ...best, path: resolve(folder, "checkpoints", String(best.step)) } }),
      authored: run.authored,
      config: parse<JsonObject>(run.config),
      git: run.git === null ? null : parse<{ commit: string; dirty: boolean }>(run.git),
      checkpoints: rows<{ step: number; path: string; bytes: number }>(
        this.statements
          .of(
            `SELECT r.step, r.path, r.bytes FROM checkpoint r ${effective} WHERE r.run = ? ORDER BY r.attempt, r.step`,
          )
          .all(id),
      ).map((checkpoint) => ({ ...checkpoint, path: resolve(folder, fromAnySystem(checkpoint.path)) })),
      attempts: attempts.map((attempt) => ({
        attempt: attempt.attempt,
        startedAt: attempt.started_at ?? run.created_at,
        resumedAt: attempt.resumed_at,
        lastStep: attempt.last_step,
      })),
      stages: this.stages(id),
      backendReason: run.backend_reason,
      device: run.device,
      ...(damaged.length === 0 ? {} : { damaged }),
    };
  }

  /** Stages that have begun. */
  stages(id: string): RunDetail["stages"] {
    return rows(
      this.statements
        .of(
          `SELECT r.step, r.name, r.stage_kind AS kind FROM stage r ${effective} WHERE r.run = ? ORDER BY r.attempt, r.step, r.ordinal`,
        )
        .all(id),
    );
  }

  /** By attempt, where a log stops being readable, what is missing for it, and what to do. */
  damage(id: string): string[] {
    return rows<{ message: string; action: string | null }>(
      this.statements
        .of(
          "SELECT message, action FROM event WHERE run = ? AND severity = 'error' AND name IN ('log/checksum', 'log/format') ORDER BY attempt, step, ordinal",
        )
        .all(id),
    ).map(({ message, action }) => (action === null ? message : `${message} ${action}`));
  }

  summary(id: string): RunSummary | null {
    const found = this.statements.of("SELECT * FROM run WHERE id = ?").get(id);
    return found === undefined ? null : this.summaryOf(asRun(found));
  }

  /** Runs whose rollouts are in their own logs. */
  ownRuns(): readonly string[] {
    return rows<{ id: string }>(
      this.statements
        .of(
          `SELECT id FROM run WHERE ${isRunIdSql("id")} AND NOT EXISTS (SELECT 1 FROM placed WHERE placed.run = run.id)`,
        )
        .all(),
    ).map(({ id }) => id);
  }

  byStartKey(key: string): string | null {
    const found = row<{ id: string }>(
      this.statements.of(`SELECT id FROM run WHERE start_key = ? AND ${isRunIdSql("id")}`).get(key),
    );
    return found?.id ?? null;
  }

  lens(file: string): Pick<ConfigLens, "lastRun"> {
    const found = this.statements
      .of(`SELECT * FROM run WHERE file = ? AND ${isRunIdSql("id")} ORDER BY created_at DESC LIMIT 1`)
      .get(file);
    return { lastRun: found === undefined ? null : this.summaryOf(asRun(found)) };
  }

  /** @throws UserError when there is no such run */
  existing(id: string): RunState {
    const found = this.statements.of("SELECT * FROM run WHERE id = ?").get(id);
    if (found === undefined)
      throw new UserError(`There is no run ${id} in this store.`, {
        code: "unknownRun",
        action: "List the runs: gradus runs list.",
      });
    return asRun(found);
  }

  /** The log says that a run is live until it records its end: that may lie further on than has been read. */
  statusOf({ id, status, attempt, origin }: RunState): RunStatus {
    if (!isLive(status)) return status;
    const folder = runFolder(this.store, id);
    // Only a run that follows another program's has a process.
    const imported = origin !== null && readWorker(folder) === null;
    return imported || hasEnded(folder, attempt) ? "reading" : status;
  }

  summaryOf(run: RunState): RunSummary {
    const status = this.statusOf(run);
    const facts = this.experiments.of(run);
    if (status === "reading") return { ...summaryOf(run, status, [], undefined), ...facts };
    const warnings = this.told.warnings(run);
    return { ...summaryOf(run, status, warnings, this.told.verdict(run, warnings)), ...facts };
  }
}

/** The attempt's process is gone. One that is about to start has no process yet. */
function hasEnded(folder: string, attempt: number): boolean {
  const worker = readWorker(folder);
  return worker !== null && worker.attempt >= attempt && !workerIsAlive(folder);
}

const parse = <Value>(text: string): Value => JSON.parse(text);

function summaryOf(
  run: RunState,
  status: RunStatus,
  warnings: readonly RunWarning[],
  verdict: VerdictBrief | undefined,
): RunSummary {
  const numbers = (text: string | null): Record<string, number> | null =>
    text === null ? null : parse<Record<string, number>>(text);
  return {
    id: run.id,
    name: run.name,
    file: run.file,
    status,
    message: run.message,
    attempt: run.attempt,
    step: run.step,
    steps: run.steps,
    stage: run.stage,
    startedAt: run.started_at ?? run.created_at,
    endedAt: run.ended_at,
    backend: run.backend,
    headline: numbers(run.headline) ?? {},
    first: numbers(run.first),
    last: numbers(run.last),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(run.origin === null ? {} : { origin: parse<RunOrigin>(run.origin) }),
  };
}
