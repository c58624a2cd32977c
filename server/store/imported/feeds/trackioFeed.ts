/** A project of trackio: an SQLite file with the metrics, settings and traces of its runs. One of the runs is read: the newest, else the named one. */
import { closeSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { openRegular } from "../../../lib/inputFile.ts";
import type { Database } from "../../drivers/database.ts";
import { isDamage } from "../../drivers/damaged.ts";
import { askAsItIs } from "../../drivers/asItIs.ts";
import { newestWrite, type Feed, type FeedAbout, type FeedSlice } from "./feed.ts";
import { StepParts } from "./stepParts.ts";
import { stepOf, TrackerNames } from "./trackerNames.ts";
import { hasTraces, TrackioTraces } from "./trackioTraces.ts";

/** Rows that are read in one go. */
const page = 2_000;
/** How much of a file is looked at to tell whether it is trackio's. */
const lookBytes = 1024 * 1024;

interface MetricsRow {
  readonly id: number;
  readonly timestamp: string;
  readonly step: number;
  readonly metrics: string | Uint8Array;
}

/** Whether a file is SQLite and has trackio's table, by its schema's text. */
export function isTrackio(file: string): boolean {
  if (!file.endsWith(".db") || statSync(file).size === 0) return false;
  const descriptor = openRegular(file);
  try {
    const bytes = Buffer.alloc(lookBytes);
    const text = bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, lookBytes, 0));
    return (
      text.startsWith("SQLite format 3\0") && /CREATE TABLE metrics \([^)]*run_name TEXT NOT NULL/.test(text)
    );
  } finally {
    closeSync(descriptor);
  }
}

export class TrackioFeed implements Feed {
  readonly trainer = "trackio";
  private readonly names = new TrackerNames();
  private readonly run: string;
  private readonly others: readonly string[];
  private readonly config: JsonObject | undefined;
  private readonly traces: TrackioTraces;
  private last = 0;

  /** @param wanted name of a run @throws UserError where the project has none of that name */
  constructor(
    private readonly file: string,
    wanted?: string,
  ) {
    const { runs, config } = this.read((database) => {
      const found = database
        .prepare("SELECT run_name AS name FROM metrics GROUP BY run_name ORDER BY max(id) DESC")
        .all();
      const names = found.map((row) => String((row as { name: unknown }).name));
      return { runs: names, config: configOf(database, wanted ?? names[0] ?? "") };
    });
    const [newest] = runs;
    if (newest === undefined || (wanted !== undefined && !runs.includes(wanted)))
      throw new UserError(
        wanted === undefined
          ? "No run of this project has logged a metric yet."
          : `There is no run ${JSON.stringify(wanted)} in this project.`,
        {
          file,
          code: "import-nothing",
          action:
            newest === undefined
              ? "Import it when a run has logged something."
              : `Name one of its runs: ${runs.slice(0, 10).join(", ")}.`,
        },
      );
    this.run = wanted ?? newest;
    this.traces = new TrackioTraces(this.run);
    this.others = runs.filter((name) => name !== this.run);
    this.config = config;
  }

  about(): FeedAbout {
    const others = this.others.slice(0, 5).join(", ");
    const recorded = this.read((database) => hasTraces(database, this.run));
    return {
      version: null,
      groups: recorded ? "recorded" : "none",
      copies: recorded,
      name: this.run,
      notes:
        this.others.length === 0
          ? []
          : [
              `${basename(this.file)} has ${this.others.length} more runs (${others}): --source-run NAME imports one of them`,
            ],
      ...(this.config === undefined ? {} : { config: this.config }),
    };
  }

  next(last: boolean): FeedSlice {
    const { rows, traces } = this.read((database) => ({
      rows: database
        .prepare(
          "SELECT id, timestamp, step, metrics FROM metrics WHERE run_name = ? AND id > ? ORDER BY id LIMIT ?",
        )
        .all(this.run, this.last, page)
        .map((row) => row as MetricsRow),
      traces: this.traces.read(database),
    }));
    const parts = new StepParts();
    let bytes = 0;
    for (const { id, timestamp, step, metrics } of rows) {
      this.last = id;
      bytes += metrics.length;
      const data = objectIn(metrics);
      if (data !== undefined)
        parts.add(stepOf(data, step), Date.parse(timestamp) / 1000, this.names.values(data));
    }
    const more = rows.length === page || traces.more;
    // Metrics come first: what the trainer has logged is not computed again from its rollouts.
    const rollouts = more ? [] : this.traces.parts(last);
    return { parts: [...parts.all(), ...rollouts], bytes: bytes + traces.bytes, more };
  }

  written(): number {
    return newestWrite([this.file, `${this.file}-wal`]);
  }

  close(): void {
    this.last = 0;
  }

  private read<Result>(ask: (database: Database) => Result): Result {
    try {
      return askAsItIs(this.file, ask);
    } catch (error) {
      throw isDamage(error) ? damagedProject(this.file, error) : error;
    }
  }
}

const damagedProject = (file: string, cause: unknown): UserError =>
  new UserError(`This project of trackio is damaged: ${messageOf(cause)}.`, {
    file,
    code: "import-unread",
    cause,
    action:
      'Copy it again from where it was written, or save what can be read: sqlite3 FILE.db ".recover" | sqlite3 whole.db, then import whole.db.',
  });

/** Keys with an underscore in front are trackio's own. */
function configOf(database: Database, run: string): JsonObject | undefined {
  const table = database
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'configs'")
    .get();
  if (table === undefined) return undefined;
  const row = database
    .prepare("SELECT config FROM configs WHERE run_name = ? ORDER BY id DESC LIMIT 1")
    .get(run);
  const config = objectIn((row as { config?: string | Uint8Array } | undefined)?.config ?? "");
  return config === undefined
    ? undefined
    : Object.fromEntries(Object.entries(config).filter(([key]) => !key.startsWith("_")));
}

/** As a text or its bytes; undefined: it is no object. */
function objectIn(json: string | Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(typeof json === "string" ? json : Buffer.from(json).toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // a row of a later form
  }
}
