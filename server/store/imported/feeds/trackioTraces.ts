/** The traces of a run of a trackio project: rollouts, a step when a later one has begun. */
import type { Database } from "../../drivers/database.ts";
import { objectOf, type Json } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { traceRows, type Trace } from "../../../analysis/imported/traceRows.ts";
import type { FeedPart } from "./feed.ts";
import { stalenessOf } from "./staleness.ts";

/** Rows that are read in one go: their texts may be long. */
const page = 200;

interface TraceRow {
  readonly place: number;
  readonly id: string;
  readonly timestamp: string;
  readonly step: number;
  readonly key: string;
  readonly messages: string | Uint8Array;
  readonly metadata: string | Uint8Array;
}

/** Earlier releases have no such table. */
export const hasTraces = (database: Database, run: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'traces'").get() !==
    undefined && database.prepare("SELECT 1 FROM traces WHERE run_name = ? LIMIT 1").get(run) !== undefined;

export class TrackioTraces {
  private readonly steps = new Map<number, { time: number; traces: Trace[] }>();
  private last = 0;

  constructor(private readonly run: string) {}

  /** @returns bytes that were read, and whether there are more */
  read(database: Database): { readonly bytes: number; readonly more: boolean } {
    if (!hasTraces(database, this.run)) return { bytes: 0, more: false };
    const rows = database
      .prepare(
        "SELECT rowid AS place, id, timestamp, step, key, messages, metadata FROM traces WHERE run_name = ? AND rowid > ? ORDER BY rowid LIMIT ?",
      )
      .all(this.run, this.last, page)
      .map((row) => row as TraceRow);
    let bytes = 0;
    for (const { place, id, timestamp, step, key, messages, metadata } of rows) {
      this.last = place;
      bytes += messages.length + metadata.length;
      const kept = this.steps.get(step) ?? { time: 0, traces: [] };
      this.steps.set(step, kept);
      kept.time = Math.max(kept.time, Date.parse(timestamp) / 1000);
      const said = valueOf(messages);
      kept.traces.push({
        id,
        key,
        messages: Array.isArray(said) ? said : [],
        metadata: objectOf(valueOf(metadata)),
      });
    }
    return { bytes, more: rows.length === page };
  }

  /** Steps that are whole. @param all nothing will follow */
  parts(all: boolean): FeedPart[] {
    const newest = Math.max(...this.steps.keys());
    const whole = [...this.steps].filter(([step]) => all || step < newest);
    return whole
      .sort(([one], [other]) => one - other)
      .flatMap(([step, { time, traces }]) => {
        this.steps.delete(step);
        const rows = traceRows(traces, step);
        // They are logged by the number of the weights that take them.
        return rows.length === 0 ? [] : { step, time, rows, values: stalenessOf(rows, step) };
      });
  }
}

/** null: it is no JSON. */
function valueOf(json: string | Uint8Array): Json {
  try {
    return parseJson(typeof json === "string" ? json : Buffer.from(json).toString("utf8")) as Json;
  } catch {
    return null; // a row of a later form
  }
}
