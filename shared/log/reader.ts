/**
 * Reads committed steps. A reader keeps a position that always lies just after a commit, so it can stop and go on at
 * any time, in another process too. What follows the last commit is not there yet: at the end of the last segment it
 * is waited for, and once a later segment exists it is a torn tail that will never be completed.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "./crc32.ts";
import {
  decodePlain,
  decodeRecord,
  decodeRolloutHead,
  headerBytes,
  maxPayloadBytes,
  prefixBytes,
  type Decoded,
  type PlainRecord,
  type RolloutHead,
} from "./codec.ts";
import { kinds, logVersion, magic, type LogRecord } from "./records.ts";
import { numbered, segmentPath } from "./writer.ts";

export interface LogPosition {
  readonly segment: number;
  /** Behind a commit record, or 0 before the segment's header. */
  readonly offset: number;
  /** The segment is damaged from here on: only a later segment is read. */
  readonly stopped?: boolean;
}
export const logStart: LogPosition = { segment: 0, offset: 0 };

export interface CommittedStep<Item = LogRecord> {
  readonly step: number;
  /** Without the commit itself. */
  readonly records: readonly Item[];
  /** Where each record begins in the segment. */
  readonly offsets: readonly number[];
  /** Where the step's first record begins. */
  readonly begin: number;
  /** Rollouts that this reader has left to another pass. */
  readonly later: number;
  /** Just after this commit. */
  readonly position: LogPosition;
}

/** Something a person should know about the log itself. */
export interface LogProblem {
  readonly name: "log/checksum" | "log/format" | "log/torn" | "log/record";
  readonly severity: "info" | "warning" | "error";
  readonly file: string;
  readonly offset: number;
  readonly message: string;
  /** Bytes of the segment that are not read for it; absent where only one record is left out. */
  readonly missing?: number;
}

interface ReadResult<Item = LogRecord> {
  readonly steps: readonly CommittedStep<Item>[];
  readonly problems: readonly LogProblem[];
  /** Where the next read begins. */
  readonly position: LogPosition;
  /** There is more to read now; false: wait until a file grows or another appears. */
  readonly more: boolean;
}

/** Attempts that have a log, ascending. */
export const attemptsOf = (runFolder: string): number[] => {
  const folder = join(runFolder, "log");
  return existsSync(folder) ? numbered(readdirSync(folder), "") : [];
};

/**
 * Committed steps from a position on, whole steps only, about `budget` bytes of them (at least one step).
 * Never throws for what the file holds: damage is a problem in the result.
 */
export const readCommitted = (
  runFolder: string,
  attempt: number,
  from: LogPosition,
  budget = 1024 * 1024,
): ReadResult => read(runFolder, attempt, from, budget, decodeRecord);

/** The same without the rollouts. */
export const readPlain = (
  runFolder: string,
  attempt: number,
  from: LogPosition,
  budget: number,
): ReadResult<PlainRecord> => read(runFolder, attempt, from, budget, decodePlain);

/** The rollouts of the one step that begins at `from`, without their columns: recordAt.ts reads those by their places. */
export const readRollouts = (
  runFolder: string,
  attempt: number,
  from: LogPosition,
): ReadResult<RolloutHead | PlainRecord> => read(runFolder, attempt, from, 1, decodeRolloutHead);

type AnyRecord = LogRecord | RolloutHead;
type Decode<Item> = (kindNumber: number, payload: Buffer) => Decoded<Item>;

function read<Item extends AnyRecord>(
  runFolder: string,
  attempt: number,
  from: LogPosition,
  budget: number,
  decode: Decode<Item>,
): ReadResult<Item> {
  // Looked up before reading: a writer that rotates in between has finished this segment before the next one appears.
  const next = { segment: from.segment + 1, offset: 0 };
  const hasNext = existsSync(segmentPath(runFolder, attempt, next.segment));
  const file = segmentPath(runFolder, attempt, from.segment);
  if (from.stopped === true || !existsSync(file)) {
    return hasNext
      ? { steps: [], problems: [], position: next, more: true }
      : { steps: [], problems: [], position: from, more: false };
  }
  const descriptor = openSync(file, "r");
  try {
    const size = fstatSync(descriptor).size;
    const scan = scanSegment(descriptor, file, from, size, budget, decode);
    if (scan.damage !== undefined) {
      const position = { ...scan.position, stopped: true };
      const damage = { ...scan.damage, missing: size - scan.position.offset };
      return { ...scan, problems: [...scan.problems, damage], position, more: hasNext };
    }
    if (scan.more) return scan;
    if (!hasNext) return scan;
    const left = size - scan.position.offset;
    const message = `${left} bytes of an unfinished step were dropped: the process that wrote them ended first.`;
    const torn = problem("log/torn", "info", file, scan.position.offset, message);
    return {
      steps: scan.steps,
      problems: left > 0 && scan.position.offset > 0 ? [...scan.problems, torn] : scan.problems,
      position: next,
      more: true,
    };
  } finally {
    closeSync(descriptor);
  }
}

const problem = (
  name: LogProblem["name"],
  severity: LogProblem["severity"],
  file: string,
  offset: number,
  message: string,
): LogProblem => ({ name, severity, file, offset, message });

interface Scan<Item> extends ReadResult<Item> {
  readonly damage?: LogProblem;
}

/** A step of some hundred rollouts: fewer would mostly be read twice. */
const windowBytes = 256 * 1024;

/**
 * Reads a budget's worth of whole steps, or one step that is larger. Records are decoded once a commit after them is
 * known: a step of many rollouts spans many budgets, and would else be decoded again with each larger window.
 */
function scanSegment<Item extends AnyRecord>(
  descriptor: number,
  file: string,
  from: LogPosition,
  size: number,
  budget: number,
  decode: Decode<Item>,
): Scan<Item> {
  for (let window = Math.max(budget, windowBytes); ; window *= 4) {
    const bytes = readAt(descriptor, from.offset, Math.min(window, size - from.offset));
    const whole = from.offset + bytes.length >= size;
    const end = commitEnd(bytes, from.offset === 0 ? headerBytes : 0, budget);
    if (end === undefined && !whole) continue;
    const steps = whole && (end ?? 0) < budget ? bytes : bytes.subarray(0, end);
    const scan = parse(steps, file, from, decode);
    if (scan.damage === undefined) return { ...scan, more: steps.length < bytes.length || !whole };
    // The writer may just have cut a failed write back and repeated it: read again before calling it damage.
    const again = parse(readAt(descriptor, from.offset, steps.length), file, from, decode);
    if (again.damage?.offset === scan.damage.offset) return again;
  }
}

/** Where the first commit after `enough` bytes ends, else the last one there is, by the records' prefixes alone. */
function commitEnd(bytes: Buffer, start: number, enough: number): number | undefined {
  let found: number | undefined;
  for (let at = start; at + prefixBytes <= bytes.length && (found ?? 0) < enough;) {
    const length = bytes.readUInt32LE(at);
    const end = at + prefixBytes + length;
    if (length > maxPayloadBytes || end > bytes.length) break;
    if (bytes.readUInt8(at + 8) === kinds.commit) found = end;
    at = end;
  }
  return found;
}

function readAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(descriptor, bytes, done, bytes.length - done, offset + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/** Everything whole in `bytes`, which begin at `from.offset` of the file. */
function parse<Item extends AnyRecord>(
  bytes: Buffer,
  file: string,
  from: LogPosition,
  decode: Decode<Item>,
): Scan<Item> {
  const steps: CommittedStep<Item>[] = [];
  const problems: LogProblem[] = [];
  let at = 0;
  const done = (position: LogPosition, damage?: LogProblem): Scan<Item> => ({
    steps,
    problems,
    position,
    more: false,
    ...(damage === undefined ? {} : { damage }),
  });
  const readTo = (): LogPosition => steps.at(-1)?.position ?? from;
  const damaged = (offset: number, what: string): Scan<Item> => {
    const message = `${what}: the segment is damaged at byte ${offset}; nothing after the last complete step before it is read.`;
    return done(readTo(), problem("log/checksum", "error", file, offset, message));
  };
  if (from.offset === 0) {
    if (bytes.length < headerBytes) return done(from);
    const wrong = headerProblem(bytes, file);
    if (wrong !== undefined) return done(from, wrong);
    at = headerBytes;
  }
  let records: Item[] = [];
  let offsets: number[] = [];
  let begin = at;
  let later = 0;
  let pendingProblems: LogProblem[] = [];
  while (at + prefixBytes <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const offset = from.offset + at;
    if (length > maxPayloadBytes) return damaged(offset, `A record claims ${length} bytes`);
    const end = at + prefixBytes + length;
    if (end > bytes.length) break;
    if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4))
      return damaged(offset, "A record's checksum is wrong");
    const decoded = decode(bytes.readUInt8(at + 8), bytes.subarray(at + prefixBytes, end));
    at = end;
    if (decoded.state === "malformed") {
      const message = `A record at byte ${offset} does not have the form of its kind and was left out: ${decoded.reason}.`;
      pendingProblems.push(problem("log/record", "warning", file, offset, message));
    }
    if (decoded.state === "later") later += 1;
    if (decoded.state !== "record") continue;
    if (decoded.record.kind !== "commit") {
      records.push(decoded.record);
      offsets.push(offset);
      continue;
    }
    steps.push({
      step: decoded.record.step,
      records,
      offsets,
      begin: from.offset + begin,
      later,
      position: { segment: from.segment, offset: from.offset + at },
    });
    problems.push(...pendingProblems);
    records = [];
    offsets = [];
    begin = at;
    later = 0;
    pendingProblems = [];
  }
  return done(readTo());
}

function headerProblem(bytes: Buffer, file: string): LogProblem | undefined {
  const refused = (message: string): LogProblem => problem("log/format", "error", file, 0, message);
  if (bytes.toString("latin1", 0, magic.length) !== magic)
    return refused("This file is not a segment of a Gradus log; it is not read.");
  const version = bytes.readUInt32LE(magic.length);
  if (version === logVersion) return undefined;
  return refused(
    `The segment is of log version ${version}; this Gradus reads version ${logVersion}. Update Gradus to read it.`,
  );
}
