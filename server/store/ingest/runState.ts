/** The row of a run while its log is applied: read at the start of a transaction, written once at its end. */
import type { RunStatus } from "../../../shared/protocol/protocol.ts";
import type { Database, Statement } from "../drivers/database.ts";

export interface RunState {
  readonly id: string;
  name: string;
  file: string;
  status: RunStatus;
  message: string | null;
  attempt: number;
  step: number;
  steps: number;
  stage: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  backend: string | null;
  backend_reason: string | null;
  device: string | null;
  seed: number | null;
  authored: string;
  config: string;
  git: string | null;
  version: string | null;
  /** JSON objects of numbers. */
  headline: string;
  first: string | null;
  last: string | null;
  /** Of a run that another trainer made: RunOrigin as JSON. */
  origin: string | null;
}

const fields = [
  "name",
  "file",
  "status",
  "message",
  "attempt",
  "step",
  "steps",
  "stage",
  "created_at",
  "started_at",
  "ended_at",
  "backend",
  "backend_reason",
  "device",
  "seed",
  "authored",
  "config",
  "git",
  "version",
  "headline",
  "first",
  "last",
  "origin",
] as const satisfies readonly (keyof RunState)[];

export const emptyRun = (id: string, createdAt: string): RunState => ({
  id,
  name: id,
  file: "",
  status: "starting",
  message: null,
  attempt: 0,
  step: -1,
  steps: 0,
  stage: null,
  created_at: createdAt,
  started_at: null,
  ended_at: null,
  backend: null,
  backend_reason: null,
  device: null,
  seed: null,
  authored: "",
  config: "{}",
  git: null,
  version: null,
  headline: "{}",
  first: null,
  last: null,
  origin: null,
});

export class RunRows {
  private readonly select: Statement;
  private readonly insert: Statement;
  private readonly update: Statement;

  constructor(database: Database) {
    this.select = database.prepare("SELECT * FROM run WHERE id = ?");
    this.insert = database.prepare(
      `INSERT INTO run(id, ${fields.join(", ")}, start_key) VALUES (@id, ${fields.map((field) => `@${field}`).join(", ")}, @start_key)`,
    );
    this.update = database.prepare(
      `UPDATE run SET ${fields.map((field) => `${field} = @${field}`).join(", ")} WHERE id = @id`,
    );
  }

  read(id: string): RunState | undefined {
    const row: unknown = this.select.get(id);
    return row === undefined ? undefined : asRun(row);
  }
  add(run: RunState, startKey: string | null = null): void {
    this.insert.run({ ...run, start_key: startKey });
  }
  write(run: RunState): void {
    this.update.run({ ...run });
  }
}

/** Rows come from our own STRICT table. */
export const asRun = (row: unknown): RunState => row as RunState;
