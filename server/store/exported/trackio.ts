/**
 * A run in a project of trackio: an SQLite file with the tables `metrics`, `configs` and `traces`, with the columns of release 0.43,
 * which makes its other tables when it opens the file. A project may have runs already: this one joins them, all of it or nothing.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Database } from "../drivers/database.ts";
import { openDatabase } from "../drivers/driver.ts";
import type { LoggedRun } from "./loggedRun.ts";
import { fileName } from "../../../shared/lib/fileName.ts";

const tables = `
CREATE TABLE IF NOT EXISTS metrics (
  id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
  step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE TABLE IF NOT EXISTS configs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL, config TEXT NOT NULL,
  created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE IF NOT EXISTS traces (
  id TEXT PRIMARY KEY, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL, step INTEGER NOT NULL,
  key TEXT NOT NULL, trace_index INTEGER, messages TEXT NOT NULL, metadata TEXT NOT NULL, search_text TEXT NOT NULL,
  log_id TEXT, space_id TEXT, spans TEXT NOT NULL DEFAULT '[]');
`;

/** The file in trackio's folder of a project that is named as the run's config is. */
export function projectOf(
  { start }: LoggedRun,
  folder: string,
): { readonly name: string; readonly file: string } {
  const name = start.name.replace(/[^\p{L}\p{N}_-]/gu, "");
  const project = fileName(name, "gradus");
  return { name: project, file: join(folder, `${project}.db`) };
}

/**
 * @param named a metric's name in the project
 * @param rollouts become traces
 * @returns how many traces there are
 * @throws UserError where the project has the run already, or is one of an earlier release
 */
export async function writeProject(
  file: string,
  run: LoggedRun,
  named: (own: string) => string,
  rollouts: AsyncIterable<RolloutRow>,
): Promise<number> {
  const fresh = !existsSync(file);
  mkdirSync(dirname(file), { recursive: true });
  const { database } = openDatabase(file, { anyThread: true });
  let written = false;
  try {
    database.exec("BEGIN IMMEDIATE");
    const project = new Project(database, run, file);
    project.metrics(named);
    project.config();
    let traces = 0;
    for await (const row of rollouts) project.trace(row, traces++);
    database.exec("COMMIT");
    // Not every package of SQLite does so when it closes: the file alone is what is copied and looked at.
    database.pragma("wal_checkpoint(TRUNCATE)");
    written = true;
    return traces;
  } finally {
    if (!written) database.exec("ROLLBACK");
    database.close();
    if (!written && fresh) rmSync(file, { force: true });
  }
}

class Project {
  private readonly run: string;
  private readonly times: ReadonlyMap<number, string>;

  constructor(
    private readonly database: Database,
    private readonly logged: LoggedRun,
    file: string,
  ) {
    this.run = logged.start.run;
    this.times = new Map(logged.steps.map(({ step, time }) => [step, new Date(time * 1000).toISOString()]));
    database.exec(tables);
    if (!this.has("SELECT 1 FROM pragma_table_info('metrics') WHERE name = 'run_id'"))
      throw new UserError("This project was made by a release of trackio before 0.43.", {
        file,
        code: "export-exists",
        action: "Open it once with `trackio show`, which brings it up to date, or name another folder.",
      });
    if (this.has("SELECT 1 FROM metrics WHERE run_name = ? LIMIT 1", this.run))
      throw new UserError(`This project has the run ${this.run} already.`, {
        file,
        code: "export-exists",
        action: "Name another folder, or delete the run in trackio first.",
      });
  }

  metrics(named: (own: string) => string): void {
    const insert = this.database.prepare(
      "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)",
    );
    for (const { step, values } of this.logged.steps) {
      const data = Object.fromEntries(Object.entries(values).map(([name, value]) => [named(name), value]));
      insert.run(this.run, this.timeOf(step), this.run, step, JSON.stringify(data));
    }
  }

  /** Keys with an underscore in front are trackio's own. */
  config(): void {
    const { config, started_at: created } = this.logged.start;
    const own = { _Username: null, _Created: created, _Group: null };
    this.database
      .prepare("INSERT INTO configs (run_id, run_name, config, created_at) VALUES (?, ?, ?, ?)")
      .run(this.run, this.run, JSON.stringify({ ...config, ...own }), created);
  }

  trace(row: RolloutRow, index: number): void {
    const { run } = this;
    const key = row.use === "evaluate" ? "evaluation" : "rollouts";
    const id = `${run}:${key}:${index}`;
    const messages = JSON.stringify(messagesOf(row));
    const metadata = JSON.stringify(metadataOf(row));
    const search = `${id} ${key} ${messages} ${metadata}`.toLowerCase();
    this.database
      .prepare(
        "INSERT INTO traces (id, run_id, timestamp, run_name, step, key, trace_index, messages, metadata, search_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(id, run, this.timeOf(row.step), run, row.step, key, index, messages, metadata, search);
  }

  private timeOf(step: number): string {
    return this.times.get(step) ?? this.logged.start.started_at;
  }

  private has(sql: string, ...values: readonly string[]): boolean {
    return this.database.prepare(sql).get(...values) !== undefined;
  }
}

/** The prompt, then the turns where the run wrote their texts, else the response. */
function messagesOf({ prompt, response = "", turns = [] }: RolloutRow): readonly JsonObject[] {
  const said = turns.flatMap(({ role, text, name }) =>
    text === undefined ? [] : [{ role, content: text, ...(name === undefined ? {} : { name }) }],
  );
  return [
    ...(prompt === undefined ? [] : [{ role: "user", content: prompt }]),
    ...(said.length > 0 && said.length === turns.length ? said : [{ role: "assistant", content: response }]),
  ];
}

/** Under the names that TRL logs its own with, next to the task's data. */
function metadataOf({
  group,
  task,
  rewards = {},
  reward,
  advantage,
  policy,
  finish,
}: RolloutRow): JsonObject {
  const terms = Object.entries(rewards).map(([term, value]): [string, Json] => [
    `rewards/${term}`,
    value as Json,
  ]);
  return {
    ...task?.data,
    ...(task?.answer === undefined ? {} : { answer: task.answer }),
    ...(finish === undefined ? {} : { finish }),
    ...Object.fromEntries(terms),
    reward: reward ?? null,
    advantage: advantage ?? null,
    group_id: group,
    ...(policy === undefined ? {} : { model_version: policy.start }),
  };
}
