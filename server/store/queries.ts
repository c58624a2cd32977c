/**
 * Answers to every question of the protocol. A run's rows are those of all its attempts, each up to where a later
 * attempt began again.
 */
import { resolve } from "node:path";
import { UserError } from "../../shared/errors.ts";
import type { Json, JsonObject } from "../../shared/json.ts";
import type {
  Change,
  ConfigLens,
  EvaluationRow,
  EventRow,
  GroupRow,
  ParamsOf,
  ResultOf,
  RunDetail,
  RunStatus,
  RunSummary,
  Series,
  evaluationsQuery,
  eventsQuery,
  groupsQuery,
  metricsNames,
  metricsSeries,
  rolloutsQuery,
  runsList,
  subscribe,
} from "../../shared/protocol.ts";
import type { RolloutRow } from "../../shared/rollouts.ts";
import { unpackColumns } from "./columns.ts";
import type { Database, Statement } from "./driver.ts";
import { runFolder } from "./files.ts";
import { asRun, type RunState } from "./runState.ts";
import { reduce } from "./series.ts";
import { compileWhere } from "./where.ts";

/** Joins a table `r` with its attempt `a` and keeps what no later attempt replaced. */
const effective =
  "JOIN attempt a ON a.run = r.run AND a.attempt = r.attempt AND (a.superseded_from IS NULL OR r.step < a.superseded_from)";
/** Changes sent in one notification. */
const changesAtOnce = 1_000;

const rows = <Row>(values: readonly unknown[]): readonly Row[] => values as readonly Row[];
const row = <Row>(value: unknown): Row | undefined => value as Row | undefined;

export class Queries {
  private readonly statements = new Map<string, Statement>();

  constructor(
    private readonly database: Database,
    private readonly store: string,
  ) {}

  // ───────────────────────────────────────────── runs

  list({ limit }: ParamsOf<typeof runsList>): ResultOf<typeof runsList> {
    return {
      runs: this.sql("SELECT * FROM run ORDER BY created_at DESC, id DESC LIMIT ?")
        .all(limit)
        .map(asRun)
        .map(summaryOf),
    };
  }

  show({ run: id }: { readonly run: string }): RunDetail {
    const run = this.known(id);
    const attempts = rows<{
      attempt: number;
      started_at: string | null;
      resumed_at: number | null;
      last_step: number;
    }>(this.sql("SELECT * FROM attempt WHERE run = ? ORDER BY attempt").all(id));
    return {
      ...summaryOf(run),
      folder: runFolder(this.store, id),
      authored: run.authored,
      config: parse<JsonObject>(run.config),
      git: run.git === null ? null : parse<{ commit: string; dirty: boolean }>(run.git),
      checkpoints: rows<{ step: number; path: string; bytes: number }>(
        this.sql(
          `SELECT r.step, r.path, r.bytes FROM checkpoint r ${effective} WHERE r.run = ? ORDER BY r.attempt, r.step`,
        ).all(id),
      ).map((checkpoint) => ({ ...checkpoint, path: resolve(runFolder(this.store, id), checkpoint.path) })),
      attempts: attempts.map((attempt) => ({
        attempt: attempt.attempt,
        startedAt: attempt.started_at ?? run.created_at,
        resumedAt: attempt.resumed_at,
        lastStep: attempt.last_step,
      })),
      stages: rows(
        this.sql(
          `SELECT r.step, r.name, r.stage_kind AS kind FROM stage r ${effective} WHERE r.run = ? ORDER BY r.attempt, r.step, r.ordinal`,
        ).all(id),
      ),
      backendReason: run.backend_reason,
    };
  }

  summary(id: string): RunSummary | null {
    const found = this.sql("SELECT * FROM run WHERE id = ?").get(id);
    return found === undefined ? null : summaryOf(asRun(found));
  }

  byStartKey(key: string): string | null {
    return row<{ id: string }>(this.sql("SELECT id FROM run WHERE start_key = ?").get(key))?.id ?? null;
  }

  lens(file: string): Pick<ConfigLens, "lastRun"> {
    const found = this.sql("SELECT * FROM run WHERE file = ? ORDER BY created_at DESC LIMIT 1").get(file);
    return { lastRun: found === undefined ? null : summaryOf(asRun(found)) };
  }

  private known(id: string): RunState {
    const found = this.sql("SELECT * FROM run WHERE id = ?").get(id);
    if (found === undefined)
      throw new UserError(`There is no run ${id} in this store.`, {
        code: "unknownRun",
        action: "List the runs: gradus runs list.",
      });
    return asRun(found);
  }

  // ───────────────────────────────────────────── metrics

  names({ run }: ParamsOf<typeof metricsNames>): ResultOf<typeof metricsNames> {
    this.known(run);
    return {
      names: rows<{ name: string }>(
        this.sql("SELECT name FROM series WHERE run = ? ORDER BY name").all(run),
      ).map(({ name }) => name),
    };
  }

  series({
    run: id,
    metrics,
    from,
    to,
    maxPoints,
  }: ParamsOf<typeof metricsSeries>): ResultOf<typeof metricsSeries> {
    const run = this.known(id);
    const attempts = rows<{ attempt: number; superseded_from: number | null }>(
      this.sql("SELECT attempt, superseded_from FROM attempt WHERE run = ? ORDER BY attempt").all(id),
    );
    const read = this.sql(
      "SELECT step, value FROM point WHERE series = ? AND attempt = ? AND step > ? AND step < ? ORDER BY step",
    ).raw();
    const series = metrics.map((metric): Series => {
      const found = row<{ id: number }>(
        this.sql("SELECT id FROM series WHERE run = ? AND name = ?").get(id, metric),
      );
      const steps: number[] = [];
      const values: (number | null)[] = [];
      for (const { attempt, superseded_from } of found === undefined ? [] : attempts) {
        const end = Math.min(
          superseded_from ?? Number.MAX_SAFE_INTEGER,
          to === undefined ? Number.MAX_SAFE_INTEGER : to + 1,
        );
        for (const [step, value] of rows<readonly [number, number | null]>(
          read.all(found?.id, attempt, from, end),
        )) {
          steps.push(step);
          values.push(value === null || !Number.isFinite(value) ? null : value);
        }
      }
      return { metric, ...reduce({ steps, values }, maxPoints), total: steps.length };
    });
    return { series, step: run.step };
  }

  // ───────────────────────────────────────────── groups, rollouts, events, evaluations

  groups({ run, step }: ParamsOf<typeof groupsQuery>): ResultOf<typeof groupsQuery> {
    this.known(run);
    const found = rows<GroupRow & { admitted: number | boolean }>(
      this.sql(
        `SELECT r.step, r.name AS "group", r.task, r.arm, r.admitted, r.reason, r.successes, r.size FROM grp r ${effective} WHERE r.run = ? AND r.step = ? ORDER BY r.attempt, r.ordinal`,
      ).all(run, step),
    );
    return { groups: found.map((group) => ({ ...group, admitted: Boolean(group.admitted) })) };
  }

  rollouts({
    run,
    step,
    where,
    tokens,
    limit,
    after,
  }: ParamsOf<typeof rolloutsQuery>): ResultOf<typeof rolloutsQuery> {
    this.known(run);
    const condition = where === undefined || where.trim() === "" ? undefined : compileWhere(where);
    const filter = `r.run = ?${step === undefined ? "" : " AND r.step = ?"}${condition === undefined ? "" : ` AND ${condition.sql}`}`;
    const values = [run, ...(step === undefined ? [] : [step]), ...(condition?.parameters ?? [])];
    const from = `FROM rollout r ${effective} LEFT JOIN prompt p ON p.id = r.prompt WHERE ${filter}`;
    const total =
      row<{ n: number }>(this.database.prepare(`SELECT count(*) AS n ${from}`).get(...values))?.n ?? 0;
    const [attempt, atStep, ordinal] = cursorOf(after);
    const found = rows<RolloutRowOfTable>(
      this.database
        .prepare(
          `SELECT r.attempt, r.step, r.ordinal, r.body, r.response, p.text AS prompt${tokens ? ", r.columns" : ""} ${from} AND (r.attempt, r.step, r.ordinal) > (?, ?, ?) ORDER BY r.attempt, r.step, r.ordinal LIMIT ?`,
        )
        .all(...values, attempt, atStep, ordinal, limit + 1),
    );
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      rollouts: found.slice(0, limit).map((item) => rolloutOf(run, item)),
      total,
      next: last === undefined ? null : `${last.attempt}:${last.step}:${last.ordinal}`,
    };
  }

  /** Of every attempt: what happened stays told. */
  events({ run, limit }: ParamsOf<typeof eventsQuery>): ResultOf<typeof eventsQuery> {
    this.known(run);
    const found = rows<Omit<EventRow, "data"> & { readonly data: string }>(
      this.sql(
        "SELECT * FROM event WHERE run = ? ORDER BY attempt DESC, step DESC, ordinal DESC LIMIT ?",
      ).all(run, limit),
    );
    return {
      events: found.toReversed().map(({ attempt, step, time, severity, name, message, action, data }) => ({
        run,
        attempt,
        step,
        time,
        severity,
        name,
        message,
        action,
        data: parse<Json>(data),
      })),
    };
  }

  evaluations({ run }: ParamsOf<typeof evaluationsQuery>): ResultOf<typeof evaluationsQuery> {
    this.known(run);
    const found = rows<{ step: number; role: EvaluationRow["role"]; metrics: string }>(
      this.sql(
        `SELECT r.step, r.role, r.metrics FROM evaluation r ${effective} WHERE r.run = ? ORDER BY r.attempt, r.step, r.ordinal`,
      ).all(run),
    );
    return {
      evaluations: found.map(({ step, role, metrics }) => ({
        step,
        role,
        metrics: parse<Record<string, number>>(metrics),
      })),
    };
  }

  // ───────────────────────────────────────────── the feed

  /** The last cursor given out. */
  head(): number {
    return (
      row<{ seq: number }>(this.sql("SELECT seq FROM sqlite_sequence WHERE name = 'change'").get())?.seq ?? 0
    );
  }

  /** Changes after a cursor, oldest first, at most a batch; `restart` where some of them are no longer kept. */
  changes({ since, runs }: ParamsOf<typeof subscribe>): ResultOf<typeof subscribe> {
    const head = this.head();
    if (since === undefined || since === head) return { cursor: head, restart: false, changes: [] };
    const oldest =
      row<{ cursor: number | null }>(this.sql("SELECT min(cursor) AS cursor FROM change").get())?.cursor ??
      head + 1;
    if (since > head || since < oldest - 1) return { cursor: head, restart: true, changes: [] };
    const found = rows<ChangeRow>(
      this.sql("SELECT * FROM change WHERE cursor > ? ORDER BY cursor LIMIT ?").all(since, changesAtOnce),
    );
    const wanted = runs === undefined ? found : found.filter(({ run }) => runs.includes(run));
    const lastOf = new Map(wanted.map(({ run, cursor }) => [run, cursor]));
    const changes = wanted.map((change): Change => ({
      cursor: change.cursor,
      run: change.run,
      kind: change.kind,
      step: change.step,
      summary: lastOf.get(change.run) === change.cursor ? this.summary(change.run) : null,
      ...(change.metrics === null ? {} : { metrics: parse<Record<string, number | null>>(change.metrics) }),
    }));
    return { cursor: found.at(-1)?.cursor ?? head, restart: false, changes };
  }

  private sql(text: string): Statement {
    const known = this.statements.get(text);
    if (known !== undefined) return known;
    const statement = this.database.prepare(text);
    this.statements.set(text, statement);
    return statement;
  }
}

interface ChangeRow {
  readonly cursor: number;
  readonly run: string;
  readonly kind: Change["kind"];
  readonly step: number;
  readonly metrics: string | null;
}
interface RolloutRowOfTable {
  readonly attempt: number;
  readonly step: number;
  readonly ordinal: number;
  readonly body: string;
  readonly response: string | null;
  readonly prompt: string | null;
  readonly columns?: Buffer | null;
}

const parse = <Value>(text: string): Value => JSON.parse(text);

function cursorOf(after: string | undefined): readonly [number, number, number] {
  if (after === undefined) return [-1, -1, -1];
  const [attempt, step, ordinal] = after.split(":").map(Number);
  if (
    attempt === undefined ||
    step === undefined ||
    ordinal === undefined ||
    ![attempt, step, ordinal].every(Number.isInteger)
  ) {
    throw new UserError(`"${after}" is not a place to go on from.`, {
      code: "refused",
      action: "Pass the `next` of the answer before.",
    });
  }
  return [attempt, step, ordinal];
}

function rolloutOf(run: string, { attempt, body, response, prompt, columns }: RolloutRowOfTable): RolloutRow {
  const fields = parse<RolloutRow>(body);
  return {
    run,
    ...fields,
    attempt,
    ...(prompt === null ? {} : { prompt }),
    ...(response === null ? {} : { response }),
    ...(columns === undefined || columns === null ? {} : unpackColumns(columns)),
  };
}

export function summaryOf(run: RunState): RunSummary {
  const numbers = (text: string | null): Record<string, number> | null =>
    text === null ? null : parse<Record<string, number>>(text);
  const status: RunStatus = run.status;
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
  };
}
