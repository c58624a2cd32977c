/** The tables of a store: whole as SQLite sees them, and with as many rows as the logs have records. */
import { existsSync } from "node:fs";
import { messageOf } from "../../../shared/lib/errors.ts";
import type { Database } from "../drivers/database.ts";
import { askAsItIs } from "../drivers/asItIs.ts";
import { databasePath } from "../files.ts";
import type { CheckedLog, Counts } from "./checkLog.ts";
import type { Finding } from "./findings.ts";

/** Tables with a row a record. */
const tables = { grp: "group", evaluation: "evaluation", checkpoint: "checkpoint", stage: "stage" } as const;

const rebuild =
  "Stop the daemon (gradus daemon stop) and move the file away: it is filled again from the run logs.";

/** @param logs of the runs that are compared */
export function checkTables(store: string, logs: ReadonlyMap<string, CheckedLog>): Finding[] {
  const file = databasePath(store);
  if (!existsSync(file)) return [];
  const found = (message: string): Finding => ({ severity: "error", file, message, action: rebuild });
  try {
    return askAsItIs(file, (database) => {
      const said = String(database.pragma("integrity_check"));
      if (said !== "ok") return [found(`SQLite says that the tables are damaged: ${said}.`)];
      return [...logs].flatMap(([run, log]) => differences(database, run, log).map(found));
    });
  } catch (error) {
    return [found(`The tables cannot be read: ${messageOf(error)}`)];
  }
}

/** Of attempts whose log has been read to its end. */
function differences(database: Database, run: string, { attempts }: CheckedLog): string[] {
  const read = database.prepare("SELECT segment, offset FROM attempt WHERE run = ? AND attempt = ?");
  return [...attempts].flatMap(([attempt, { counts, end }]) => {
    const place = read.get(run, attempt) as { segment: number; offset: number } | undefined;
    const isRead = place?.segment === end.segment && place.offset === end.offset;
    // Groups of rollouts in a trainer's files are made when they are asked for.
    if (!isRead || counts.placed !== undefined) return [];
    return Object.entries(tables).flatMap(([table, kind]) =>
      difference(database, { run, attempt, table, kind, counts }),
    );
  });
}

interface Compared {
  readonly run: string;
  readonly attempt: number;
  readonly table: string;
  readonly kind: keyof Counts;
  readonly counts: Counts;
}

function difference(database: Database, { run, attempt, table, kind, counts }: Compared): string[] {
  const counted = database
    .prepare(`SELECT count(*) AS rows FROM ${table} WHERE run = ? AND attempt = ?`)
    .get(run, attempt) as { rows: number };
  const records = counts[kind] ?? 0;
  return counted.rows === records
    ? []
    : [
        `Of run ${run}, attempt ${attempt}, the table ${table} has ${counted.rows} rows, and the log has ${records} records.`,
      ];
}
