/**
 * The tables. Everything in them is made from the run logs and can be made again. Rows that a step brings are keyed
 * (run, attempt, step, ordinal); the transaction that inserts them advances the attempt's position in its log.
 */
import { UserError } from "../../shared/lib/errors.ts";
import type { Database } from "./drivers/database.ts";

const first = `
CREATE TABLE run(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, status TEXT NOT NULL, message TEXT,
  attempt INTEGER NOT NULL, step INTEGER NOT NULL, steps INTEGER NOT NULL, stage TEXT,
  created_at TEXT NOT NULL, started_at TEXT, ended_at TEXT, backend TEXT, backend_reason TEXT, device TEXT,
  seed INTEGER, authored TEXT NOT NULL, config TEXT NOT NULL, git TEXT, version TEXT,
  headline TEXT NOT NULL, first TEXT, last TEXT, start_key TEXT UNIQUE
) STRICT, WITHOUT ROWID;
CREATE INDEX run_created ON run(created_at);
CREATE INDEX run_file ON run(file, created_at);

-- superseded_from: this attempt's steps from there on were trained again by a later one. Marked, never deleted.
-- segment, offset, stopped: how far its log has been read.
CREATE TABLE attempt(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, started_at TEXT, resumed_at INTEGER, superseded_from INTEGER,
  last_step INTEGER NOT NULL, ended TEXT, bundles TEXT, segment INTEGER NOT NULL, offset INTEGER NOT NULL, stopped INTEGER NOT NULL,
  PRIMARY KEY(run, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE series(id INTEGER PRIMARY KEY, run TEXT NOT NULL, name TEXT NOT NULL, UNIQUE(run, name)) STRICT;
-- NULL is NaN.
CREATE TABLE point(series INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, value REAL, PRIMARY KEY(series, attempt, step)) STRICT, WITHOUT ROWID;
CREATE TABLE clock(run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, time REAL NOT NULL, PRIMARY KEY(run, attempt, step)) STRICT, WITHOUT ROWID;

CREATE TABLE grp(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  name TEXT NOT NULL, task TEXT NOT NULL, arm TEXT NOT NULL, admitted INTEGER NOT NULL, reason TEXT, successes REAL NOT NULL, size REAL NOT NULL, signal REAL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;

-- A prompt is the same for a whole group: kept once.
CREATE TABLE prompt(id INTEGER PRIMARY KEY, run TEXT NOT NULL, hash BLOB NOT NULL, text TEXT NOT NULL, UNIQUE(run, hash)) STRICT;
CREATE TABLE rollout(
  id INTEGER PRIMARY KEY, run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  name TEXT NOT NULL, idx INTEGER NOT NULL, task TEXT, env TEXT, arm TEXT, prompt INTEGER, response TEXT, finish TEXT, source TEXT, use TEXT,
  reward REAL, advantage REAL, admitted INTEGER, tokens INTEGER, body TEXT NOT NULL, columns BLOB,
  UNIQUE(run, attempt, step, ordinal)
) STRICT;

CREATE TABLE event(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  time REAL NOT NULL, severity TEXT NOT NULL, name TEXT NOT NULL, message TEXT NOT NULL, action TEXT, data TEXT NOT NULL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE evaluation(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL, time REAL NOT NULL, role TEXT NOT NULL, metrics TEXT NOT NULL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE stage(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL, idx INTEGER NOT NULL, name TEXT NOT NULL, stage_kind TEXT NOT NULL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;

-- The feed every client follows. AUTOINCREMENT: a cursor is never given twice.
CREATE TABLE change(cursor INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, kind TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT) STRICT;
`;

/**
 * Points of one series and attempt that have come to rest, some hundreds to a row: `points` holds the steps, ascending,
 * then the values, as little-endian float64; NaN is NaN. Rows of one series and attempt do not overlap. What `point`
 * holds next to them is newer. See points.ts.
 */
const second = `
CREATE TABLE packed(
  series INTEGER NOT NULL, attempt INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, points BLOB NOT NULL,
  PRIMARY KEY(series, attempt, first)
) STRICT;
`;

/** The daemon that serves this store: see owner.ts. */
const third = `
CREATE TABLE owner(only_one INTEGER PRIMARY KEY CHECK(only_one = 1), pid INTEGER NOT NULL, process_start TEXT NOT NULL) STRICT;
`;

/**
 * Reading a live run must not slow it down, and rollouts are most of its log: a row holds what is searched and where the
 * record lies (`segment`, `offset`), and is made when somebody asks or the run has ended. Until then its step is
 * `unread`. An older store is read again.
 */
const fourth = `
DROP TABLE rollout;
CREATE TABLE rollout(
  id INTEGER PRIMARY KEY, run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL,
  name TEXT NOT NULL, idx INTEGER NOT NULL, task TEXT, env TEXT, arm TEXT, prompt INTEGER, response TEXT, finish TEXT, source TEXT, use TEXT,
  reward REAL, advantage REAL, admitted INTEGER, tokens INTEGER, terms TEXT NOT NULL,
  UNIQUE(run, attempt, step, ordinal)
) STRICT;
CREATE TABLE unread(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, segment INTEGER NOT NULL, offset INTEGER NOT NULL, step INTEGER NOT NULL,
  PRIMARY KEY(run, attempt, segment, offset)
) STRICT, WITHOUT ROWID;
${["prompt", "point", "packed", "series", "clock", "grp", "event", "evaluation", "checkpoint", "stage"].map((table) => `DELETE FROM ${table};`).join("\n")}
UPDATE attempt SET superseded_from = NULL, last_step = -1, ended = NULL, segment = 0, offset = 0, stopped = 0;
`;

/** A measurement of every stage's tasks is made as a stage ends: of which. */
const fifth = `
ALTER TABLE evaluation ADD COLUMN stage TEXT;
`;

/** What a group has cost: the tokens of its rollouts, counted as these become rows. An older store is read again. */
const sixth = `
DROP TABLE grp;
CREATE TABLE grp(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  name TEXT NOT NULL, task TEXT NOT NULL, arm TEXT NOT NULL, admitted INTEGER NOT NULL, reason TEXT, successes REAL NOT NULL, size REAL NOT NULL, signal REAL, tokens INTEGER,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
${["rollout", "unread", "prompt", "point", "packed", "series", "clock", "event", "evaluation", "checkpoint", "stage"].map((table) => `DELETE FROM ${table};`).join("\n")}
UPDATE attempt SET superseded_from = NULL, last_step = -1, ended = NULL, segment = 0, offset = 0, stopped = 0;
`;

/** Tasks that a run has made of others; and the family of an arm, where arms are many (NULL: the arm itself). */
const seventh = `
ALTER TABLE grp ADD COLUMN family TEXT;
ALTER TABLE rollout ADD COLUMN family TEXT;
CREATE TABLE task(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  source TEXT NOT NULL, id TEXT NOT NULL, prompt TEXT NOT NULL, answer TEXT, parents TEXT NOT NULL, generation INTEGER NOT NULL,
  transform TEXT NOT NULL, author TEXT NOT NULL, answered TEXT NOT NULL, successes REAL, rollouts REAL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_id ON task(run, id);
CREATE INDEX grp_family ON grp(run) WHERE family IS NOT NULL;
`;

/** What rollouts are scored by, and by which of them: their rows have the id and what is met, in `terms`. */
const eighth = `
CREATE TABLE criteria(run TEXT NOT NULL, id TEXT NOT NULL, list TEXT NOT NULL, PRIMARY KEY(run, id)) STRICT, WITHOUT ROWID;
`;

/**
 * Runs of other trainers: who made a run (JSON), and how many rollouts that train are in which file. A rollout's `segment` and
 * `offset` are then those of the record that places it there, and `line` says which of them it is.
 */
const ninth = `
ALTER TABLE run ADD COLUMN origin TEXT;
ALTER TABLE rollout ADD COLUMN line INTEGER;
CREATE TABLE placed(
  run TEXT NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, ordinal INTEGER NOT NULL, file TEXT NOT NULL, rollouts INTEGER NOT NULL,
  PRIMARY KEY(run, attempt, step, ordinal)
) STRICT, WITHOUT ROWID;
`;

/** What became of each held-out task of an evaluation (JSON); NULL: not recorded. */
const tenth = `
ALTER TABLE evaluation ADD COLUMN results TEXT;
`;

/** The verdict on a run that has ended, and by what it was found: found again where that differs. */
const eleventh = `
CREATE TABLE verdict(run TEXT PRIMARY KEY, at TEXT NOT NULL, brief TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/**
 * Rows of `packed` in cells of some steps each (levels.ts), for charts of long runs; where rows of an earlier version have none,
 * points are read. A table of its own: what follows a long column in a row is not read without it.
 */
const twelfth = `
CREATE TABLE level(
  series INTEGER NOT NULL, attempt INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, cells BLOB NOT NULL,
  PRIMARY KEY(series, attempt, first)
) STRICT, WITHOUT ROWID;
`;

/** Migration n brings a store from version n to n + 1. */
const migrations: readonly string[] = [
  first,
  second,
  third,
  fourth,
  fifth,
  sixth,
  seventh,
  eighth,
  ninth,
  tenth,
  eleventh,
  twelfth,
];

/** Tables whose rows belong to one run by its column `run`; `point`, `packed` and `level` hang on `series`. */
export const runTables = [
  "clock",
  "grp",
  "unread",
  "rollout",
  "prompt",
  "criteria",
  "event",
  "evaluation",
  "checkpoint",
  "stage",
  "task",
  "placed",
  "verdict",
  "series",
  "attempt",
] as const;

/** What distinguishes a table's rows, where it is not `(run, attempt, step, ordinal)`. */
export const rowKeys: Readonly<Partial<Record<(typeof runTables)[number], string>>> = {
  rollout: "id",
  prompt: "id",
  series: "id",
  clock: "(run, attempt, step)",
  attempt: "(run, attempt)",
  unread: "(run, attempt, segment, offset)",
  criteria: "(run, id)",
  verdict: "run",
};

/** @param to the version wanted: an older one only where a test makes an old store */
export function migrate(database: Database, path: string, to = migrations.length): void {
  const version = Number(database.pragma("user_version"));
  if (version > migrations.length) {
    throw new UserError(
      `A later version of Gradus wrote this store (schema ${version}; this version knows ${migrations.length}).`,
      {
        file: path,
        code: "store-too-new",
        action: "Update Gradus, or move the file away: it is rebuilt from the run logs in the same folder.",
      },
    );
  }
  migrations.slice(version, to).forEach((migration, index) =>
    database.transaction(() => {
      database.exec(migration);
      if (version + index === 0) seedCursor(database);
      database.pragma(`user_version = ${version + index + 1}`);
    }),
  );
}

/** A rebuilt store begins far after every cursor of an earlier one, so that clients start over. */
function seedCursor(database: Database): void {
  database
    .prepare("INSERT INTO change(cursor, run, kind, step) VALUES (?, '', 'created', -1)")
    .run(Date.now() * 1000);
  database.prepare("DELETE FROM change").run();
}
