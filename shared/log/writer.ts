/**
 * The writer of one attempt's log. Records wait in memory until `commit`, which writes a whole step at once; a step
 * never spans two segments. Everything is synchronous: a run's process has nothing better to do, and a commit that has
 * returned is with the operating system. `sync` makes it survive a power cut (call it at checkpoints and at the end).
 */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { UserError, messageOf } from "../lib/errors.ts";
import { encodeRecord, segmentHeader } from "./codec.ts";
import { segmentBytes, type LogRecord } from "./records.ts";

const attemptFolder = (runFolder: string, attempt: number): string => join(runFolder, "log", String(attempt));
export const segmentPath = (runFolder: string, attempt: number, segment: number): string =>
  join(attemptFolder(runFolder, attempt), `${segment}.seg`);

/** Numbers of the segments or attempts in a folder, ascending. */
export function numbered(names: readonly string[], suffix: string): number[] {
  return names
    .filter((name) => name.endsWith(suffix) && /^\d+$/.test(name.slice(0, name.length - suffix.length)))
    .map((name) => Number(name.slice(0, name.length - suffix.length)))
    .sort((a, b) => a - b);
}

export interface LogWriter {
  readonly attempt: number;
  /** File of the segment being written, for messages. */
  readonly file: string;
  /** Adds a record to the step being assembled. Throws nothing but for a record that cannot be encoded. */
  append(record: Exclude<LogRecord, { kind: "commit" }>): void;
  /**
   * Ends a step: its records become readable, all or none. May be called again for the same step (an evaluation after
   * it, an acknowledgement while paused). On a full disk it throws a UserError, the file is cut back to the last
   * commit, the step's records are kept, and calling it again tries again.
   */
  commit(step: number): void;
  /** Flushes to the device. */
  sync(): void;
  /** Flushes and closes; records that were never committed are dropped. */
  close(): void;
}

/**
 * Opens an attempt's log for writing.
 * @param folder the run's folder, `runs/<id>`
 * @param attempt from 0; opening one that exists begins a new segment, since a torn tail is never appended to
 */
export function openAttempt(
  folder: string,
  attempt: number,
  options: { readonly segmentBytes?: number } = {},
): LogWriter {
  mkdirSync(attemptFolder(folder, attempt), { recursive: true });
  return new SegmentWriter(folder, attempt, options.segmentBytes ?? segmentBytes);
}

class SegmentWriter implements LogWriter {
  private pending: Buffer[] = [];
  private descriptor: number | undefined;
  private segment: number;
  /** Bytes up to and including the last commit. */
  private committed = 0;
  /** What follows `committed` could not be cut off: this segment is never written again. */
  private torn = false;

  constructor(
    private readonly folder: string,
    readonly attempt: number,
    private readonly limit: number,
  ) {
    this.segment = (numbered(readdirSync(attemptFolder(folder, attempt)), ".seg").at(-1) ?? -1) + 1;
  }

  get file(): string {
    return segmentPath(this.folder, this.attempt, this.segment);
  }

  append(record: Exclude<LogRecord, { kind: "commit" }>): void {
    this.pending.push(encodeRecord(record));
  }

  commit(step: number): void {
    const bytes = Buffer.concat([...this.pending, encodeRecord({ kind: "commit", step })]);
    this.write(bytes);
    this.pending = [];
  }

  sync(): void {
    if (this.descriptor === undefined) return;
    try {
      fsyncSync(this.descriptor);
    } catch (error) {
      throw this.failure(error);
    }
  }

  close(): void {
    if (this.descriptor === undefined) return;
    this.sync();
    closeSync(this.descriptor);
    this.descriptor = undefined;
    this.segment++;
    this.committed = 0;
  }

  private write(bytes: Buffer): void {
    try {
      if (this.descriptor !== undefined && (this.torn || this.committed >= this.limit)) this.close();
      this.torn = false;
      this.descriptor ??= this.open();
      const all = this.committed === 0 ? Buffer.concat([segmentHeader(), bytes]) : bytes;
      for (let done = 0; done < all.length;)
        done += writeSync(this.descriptor, all, done, all.length - done, this.committed + done);
      this.committed += all.length;
    } catch (error) {
      this.cutBack();
      throw this.failure(error);
    }
  }

  /** `wx`: a second writer of the same attempt gets a segment of its own rather than this one's bytes. */
  private open(): number {
    for (;;) {
      try {
        return openSync(this.file, "wx", 0o644);
      } catch (error) {
        if (!hasCode(error, "EEXIST")) throw error;
        this.segment++;
      }
    }
  }

  private cutBack(): void {
    if (this.descriptor === undefined) return;
    try {
      ftruncateSync(this.descriptor, this.committed);
    } catch {
      this.torn = true;
    }
  }

  private failure(error: unknown): UserError {
    const full = hasCode(error, "ENOSPC") || hasCode(error, "EDQUOT") || hasCode(error, "EFBIG");
    return new UserError(
      full
        ? `The disk is full: the run log cannot grow (${messageOf(error)}).`
        : `The run log cannot be written: ${messageOf(error)}.`,
      {
        file: this.file,
        code: full ? "disk-full" : "log-not-writable",
        action: full
          ? "Free space on this disk, then resume the run: every committed step is kept."
          : "Check that the folder exists and that you may write to it, then resume the run.",
        cause: error,
      },
    );
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
