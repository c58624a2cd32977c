/** What two runs of one config recorded, and in what they differ. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { attemptsOf } from "../../shared/log/reader.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import { checkpointSteps } from "../../server/run/checkpoint/checkpoint.ts";
import { essence, ofKind, readLog } from "../../test/support/runFolder.ts";

/** Records of all attempts, each up to where a later one began again. */
export function effective(folder: string): LogRecord[] {
  const attempts = attemptsOf(folder).map((attempt) => readLog(folder, attempt));
  // An attempt that was killed before its first record replaces nothing.
  const begins = attempts.map((records) => {
    const start = ofKind(records, "start")[0];
    return start === undefined ? Number.POSITIVE_INFINITY : (start.resumed_at ?? -1);
  });
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

/** Where two JSON values differ first. */
function differs(one: unknown, other: unknown, path = ""): string {
  const plain = (value: unknown): value is Record<string, unknown> =>
    value !== null && typeof value === "object";
  if (!plain(one) || !plain(other))
    return `${path}: ${JSON.stringify(one)?.slice(0, 120)} and ${JSON.stringify(other)?.slice(0, 120)}`;
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const key = keys.find((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  return key === undefined ? `${path}: the order of keys` : differs(one[key], other[key], `${path}/${key}`);
}

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
    files.set(name, createHash("sha256").update(comparable(name, path)).digest("hex"));
  }
  return files;
}
/** The sums hold that of state.json, too, as it was written. */
function comparable(name: string, path: string): string | Buffer {
  if (name === "state.json") return JSON.stringify(timeless(path));
  if (name === "SHA256SUMS") return readFileSync(path, "utf8").replace(/^.* state\.json\n/m, "");
  return readFileSync(path);
}
/** Seconds differ, and so do the names of parts and the folders they were made in. */
function timeless(path: string): unknown {
  const { loop, parts }: { loop: object; parts: Record<string, unknown> } = JSON.parse(
    readFileSync(path, "utf8"),
  );
  const named = Object.entries(parts).map(([name, part]) => [name.split("/")[0], part]);
  return [{ ...loop, seconds: 0 }, named].map(inOrder);
}
/** What was read back lists its keys as the file does; their order means nothing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, inOrder(one)]));
}
const lastState = (folder: string): unknown =>
  timeless(join(folder, "checkpoints", String(checkpointSteps(folder).at(-1)), "state.json"));

export interface Comparison {
  readonly rows: number;
  readonly lost: number;
  readonly doubled: number;
  /** Files of the last checkpoint that differ. */
  readonly state: readonly string[];
  /** The first row that is missing, or the first value of the state that differs. */
  readonly example?: string;
}

export function compare(reference: string, killed: string): Comparison {
  const [wanted, found] = [count(rowsOf(reference)), count(rowsOf(killed))];
  const lost = [...wanted].filter(([row, times]) => (found.get(row) ?? 0) < times);
  const doubled = [...found].filter(([row, times]) => times > (wanted.get(row) ?? 0));
  const [one, other] = [state(reference), state(killed)];
  const names = new Set([...one.keys(), ...other.keys()]);
  const changed = [...names].filter((name) => one.get(name) !== other.get(name));
  const example =
    lost[0]?.[0] ??
    doubled[0]?.[0] ??
    (changed.includes("state.json") ? differs(lastState(reference), lastState(killed)) : undefined);
  return {
    rows: [...wanted.values()].reduce((sum, times) => sum + times, 0),
    lost: lost.length,
    doubled: doubled.length,
    state: changed,
    ...(example !== undefined && { example: example.slice(0, 300) }),
  };
}

/** A checkpoint is being written. */
export const writing = (folder: string): boolean => {
  const checkpoints = join(folder, "checkpoints");
  return existsSync(checkpoints) && readdirSync(checkpoints).some((name) => /^\d+\.tmp-\d+$/.test(name));
};
