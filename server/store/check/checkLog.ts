/** Every record of a run's log, and what lies behind the last whole step. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { prefixBytes } from "../../../shared/log/codec.ts";
import { crc32 } from "../../../shared/log/crc32.ts";
import { attemptsOf, logStart, readCommitted, type LogPosition } from "../../../shared/log/reader.ts";
import { kinds, type LogRecord, type PlacedRecord } from "../../../shared/log/records.ts";
import { segmentPath } from "../../../shared/log/writer.ts";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { readPlacedStep } from "../../analysis/imported/placedStep.ts";
import type { Finding } from "./findings.ts";

export interface CheckedLog {
  readonly steps: number;
  readonly bytes: number;
  /** Of each attempt: records of the kinds that are rows of a table, and where its whole steps end. */
  readonly attempts: ReadonlyMap<number, { readonly counts: Counts; readonly end: LogPosition }>;
  readonly findings: readonly Finding[];
}
export type Counts = Partial<Record<LogRecord["kind"], number>>;

const restore =
  "Steps before it can be read as ever. Restore the file from a copy, or resume the run: it continues from its last checkpoint.";

/** @param folder `runs/<id>` @param live a process is writing: what follows the last step is not there yet */
export function checkLog(folder: string, live: boolean): CheckedLog {
  const findings: Finding[] = [];
  const attempts = new Map<number, { counts: Counts; end: LogPosition }>();
  const numbers = attemptsOf(folder);
  let [steps, bytes] = [0, 0];
  for (const attempt of numbers) {
    const counts: Counts = {};
    let position = logStart;
    for (let more = true; more;) {
      const read = readCommitted(folder, attempt, position);
      for (const { records } of read.steps)
        for (const record of records) {
          counts[record.kind] = (counts[record.kind] ?? 0) + 1;
          if (record.kind === "placed") findings.push(...placedFindings(folder, record));
        }
      steps += read.steps.length;
      for (const { severity, file, offset, message } of read.problems)
        if (severity !== "info") findings.push({ severity, file, offset, message, action: restore });
      ({ position, more } = read);
    }
    attempts.set(attempt, { counts, end: position });
    bytes += bytesOf(folder, attempt);
    const isLive = live && attempt === numbers.at(-1);
    if (!isLive && position.stopped !== true)
      findings.push(...tailFindings(segmentPath(folder, attempt, position.segment), position.offset));
  }
  return { steps, bytes, attempts, findings };
}

function bytesOf(folder: string, attempt: number): number {
  let bytes = 0;
  for (let segment = 0; existsSync(segmentPath(folder, attempt, segment)); segment++)
    bytes += statSync(segmentPath(folder, attempt, segment)).size;
  return bytes;
}

/** What follows the last step of a log that nobody writes to. */
function tailFindings(file: string, offset: number): Finding[] {
  if (!existsSync(file)) return [];
  const tail = readFileSync(file).subarray(offset);
  if (tail.length === 0) return [];
  const what = `The last ${tail.length} bytes are not read`;
  return holdsCommit(tail)
    ? [
        {
          severity: "error",
          file,
          offset,
          message: `${what}: a record's length is damaged, since whole steps follow it.`,
          action: restore,
        },
      ]
    : [
        {
          severity: "warning",
          file,
          offset,
          message: `${what}: an unfinished step, whose process ended first, or a record whose length is damaged.`,
          action: "A resumed run makes the step again. Nothing else depends on these bytes.",
        },
      ];
}

/** A commit is a few bytes long. */
const longestCommit = 256;

/** Whether a step ends anywhere in these bytes. */
function holdsCommit(bytes: Buffer): boolean {
  for (let at = 0; at + prefixBytes <= bytes.length; at++) {
    if (bytes[at + 8] !== kinds.commit) continue;
    const end = at + prefixBytes + bytes.readUInt32LE(at);
    if (end - at > longestCommit || end > bytes.length) continue;
    if (crc32(bytes.subarray(at + 8, end)) === bytes.readUInt32LE(at + 4)) return true;
  }
  return false;
}

/** Rollouts in another trainer's file: as they were when they were imported. */
function placedFindings(folder: string, record: PlacedRecord): Finding[] {
  try {
    const { broken, file } = readPlacedStep(folder, record);
    return broken.map(({ line, message }) => ({
      severity: "warning",
      file,
      message: `Rollout ${line} of step ${record.step} is left out: ${message}`,
      action:
        "The others of the step are read. Where the line should be one, correct it and import the folder again.",
    }));
  } catch (error) {
    const { file = record.file, action = "Import the folder again: gradus runs import." } =
      error instanceof UserError ? error.detail : {};
    return [{ severity: "error", file, message: messageOf(error), action }];
  }
}
