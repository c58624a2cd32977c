/** What two runs of one config recorded, and in what they differ. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { attemptsOf } from "../../shared/log/reader.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import { checkpointSteps } from "../../server/run/checkpoint.ts";
import { essence, ofKind, readLog } from "../../test/support/runFolder.ts";

/** Records of all attempts, each up to where a later one began again. */
export function effective(folder: string): LogRecord[] {
  const attempts = attemptsOf(folder).map((attempt) => readLog(folder, attempt));
  const begins = attempts.map((records) => ofKind(records, "start")[0]?.resumed_at ?? -1);
  return attempts.flatMap((records, at) => {
    const until = Math.min(...begins.slice(at + 1), Number.POSITIVE_INFINITY);
    return records.filter((record) => !("step" in record) || record.step < until);
  });
}

/** Every row that must be the same, as text. */
function rowsOf(folder: string): string[] {
  const records = effective(folder);
  const marks = records.filter(({ kind }) => kind === "stage" || kind === "task" || kind === "criteria");
  return [...essence(records, -1), ...marks].map((row) => JSON.stringify(row));
}

const count = (rows: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
};

/** Hashes of what the last checkpoint holds, but for clocks. */
function state(folder: string): Map<string, string> {
  const last = checkpointSteps(folder).at(-1);
  const files = new Map<string, string>();
  if (last === undefined) return files;
  const at = join(folder, "checkpoints", String(last));
  for (const entry of readdirSync(at, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(at, path);
    files.set(
      name,
      createHash("sha256")
        .update(name === "state.json" ? timeless(path) : readFileSync(path))
        .digest("hex"),
    );
  }
  return files;
}
/** Seconds differ, and so do the names of parts and the folders they were made in. */
function timeless(path: string): string {
  const { loop, parts }: { loop: object; parts: Record<string, unknown> } = JSON.parse(
    readFileSync(path, "utf8"),
  );
  const named = Object.entries(parts).map(([name, part]) => [name.split("/")[0], part]);
  return JSON.stringify([{ ...loop, seconds: 0 }, named]);
}

export interface Comparison {
  readonly rows: number;
  readonly lost: number;
  readonly doubled: number;
  /** Files of the last checkpoint that differ. */
  readonly state: readonly string[];
  /** The first row that is missing, for whoever looks into it. */
  readonly example?: string;
}

export function compare(reference: string, killed: string): Comparison {
  const [wanted, found] = [count(rowsOf(reference)), count(rowsOf(killed))];
  const lost = [...wanted].filter(([row, times]) => (found.get(row) ?? 0) < times);
  const doubled = [...found].filter(([row, times]) => times > (wanted.get(row) ?? 0));
  const [one, other] = [state(reference), state(killed)];
  const names = new Set([...one.keys(), ...other.keys()]);
  const example = lost[0]?.[0] ?? doubled[0]?.[0];
  return {
    rows: [...wanted.values()].reduce((sum, times) => sum + times, 0),
    lost: lost.length,
    doubled: doubled.length,
    state: [...names].filter((name) => one.get(name) !== other.get(name)),
    ...(example !== undefined && { example: example.slice(0, 300) }),
  };
}

/** A checkpoint is being written. */
export const writing = (folder: string): boolean => {
  const checkpoints = join(folder, "checkpoints");
  return existsSync(checkpoints) && readdirSync(checkpoints).some((name) => /^\d+\.tmp-\d+$/.test(name));
};
