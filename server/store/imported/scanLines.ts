/** Where the lines of a file lie, and what they are known by. Bytes only: nothing is parsed, and no file is held. */
import { closeSync, fstatSync, readSync } from "node:fs";
import { crc32 } from "../../../shared/log/crc32.ts";
import type { PlacedColumns } from "../../../shared/log/records.ts";
import { limits, openRegular } from "../../lib/inputFile.ts";

export interface ScannedFile {
  readonly size: number;
  readonly mtime: number;
  readonly columns: PlacedColumns;
  /** Lines whose score is NaN, from 0; the tail, where it is one, is the last. */
  readonly unscored: readonly number[];
  /** What follows the last line break: half a line, or a last line without one. */
  readonly tail: { readonly offset: number; readonly bytes: Buffer };
}

const newline = 10;
const windowBytes = 1024 * 1024;

/** One buffer for all files. */
export class LineScanner {
  private readonly window = Buffer.allocUnsafe(windowBytes);
  private offsets = new Float64Array(1024);
  private lengths = new Int32Array(1024);
  private crcs = new Int32Array(1024);

  /** Lines that hold nothing are left out. @param progress receives the bytes of each read */
  scan(file: string, progress: (bytes: number) => void = () => undefined): ScannedFile {
    const descriptor = openRegular(file);
    try {
      const { size, mtimeMs } = fstatSync(descriptor);
      const noScore = new NoScore();
      const { count, begin, end } = this.lines(descriptor, progress, noScore);
      const bytes = Buffer.alloc(Math.min(end - begin, limits.line));
      readSync(descriptor, bytes, 0, bytes.length, begin);
      const columns = {
        offset: this.offsets.slice(0, count),
        length: this.lengths.slice(0, count),
        crc: this.crcs.slice(0, count),
      };
      const unscored = noScore.found.map((at) => lineAt(columns.offset, begin, at));
      return { size, mtime: Math.round(mtimeMs), columns, unscored, tail: { offset: begin, bytes } };
    } finally {
      closeSync(descriptor);
    }
  }

  private lines(
    descriptor: number,
    progress: (bytes: number) => void,
    noScore: NoScore,
  ): { readonly count: number; readonly begin: number; readonly end: number } {
    const { window } = this;
    let count = 0;
    let begin = 0;
    let end = 0;
    let crc = 0;
    for (let read = readSync(descriptor, window, 0, window.length, 0); read > 0;) {
      const bytes = window.subarray(0, read);
      let from = 0;
      for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
        crc = crc32(bytes.subarray(from, at), crc);
        const length = end + at - begin;
        // "\r" alone is as empty as nothing.
        if (length > 1) this.note(count++, begin, length, crc);
        from = at + 1;
        begin = end + from;
        crc = 0;
      }
      crc = crc32(bytes.subarray(from), crc);
      noScore.look(bytes, end);
      end += read;
      progress(read);
      read = readSync(descriptor, window, 0, window.length, end);
    }
    return { count, begin, end };
  }

  private note(at: number, offset: number, length: number, crc: number): void {
    if (at === this.offsets.length) this.grow();
    this.offsets[at] = offset;
    this.lengths[at] = length;
    this.crcs[at] = crc;
  }

  private grow(): void {
    const size = this.offsets.length * 2;
    const [offsets, lengths, crcs] = [new Float64Array(size), new Int32Array(size), new Int32Array(size)];
    offsets.set(this.offsets);
    lengths.set(this.lengths);
    crcs.set(this.crcs);
    Object.assign(this, { offsets, lengths, crcs });
  }
}

/** As Python's json writes it: within a text its quotes would be escaped. */
const nan = Buffer.from("NaN");
const scoreOfNan = Buffer.from('"score": NaN');

/** Where a score is NaN, looked for in bytes. */
class NoScore {
  readonly found: number[] = [];
  private before = Buffer.alloc(0);

  /** @param begin of `bytes` in the file */
  look(bytes: Buffer, begin: number): void {
    const { before } = this;
    const most = scoreOfNan.length - 1;
    const seam = Buffer.concat([before, bytes.subarray(0, most)]);
    const across = seam.indexOf(scoreOfNan);
    if (across !== -1) this.found.push(begin - before.length + across);
    // Those three letters are rarer than a quotation mark.
    for (let at = bytes.indexOf(nan); at !== -1; at = bytes.indexOf(nan, at + 1)) {
      const from = at + nan.length - scoreOfNan.length;
      if (from >= 0 && bytes.subarray(from, from + scoreOfNan.length).equals(scoreOfNan))
        this.found.push(begin + from);
    }
    this.before = Buffer.from(bytes.subarray(Math.max(0, bytes.length - most)));
  }
}

/** @param begin of the tail */
function lineAt(offsets: ArrayLike<number>, begin: number, at: number): number {
  if (at >= begin) return offsets.length;
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (offsets[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The CRC-32 of a file, with its size and time. */
export function fileStamp(
  file: string,
  progress: (bytes: number) => void = () => undefined,
): { readonly size: number; readonly mtime: number; readonly crc: number } {
  const descriptor = openRegular(file);
  try {
    const { size, mtimeMs } = fstatSync(descriptor);
    const window = Buffer.allocUnsafe(Math.min(windowBytes, Math.max(1, size)));
    let crc = 0;
    for (let done = 0, read = 1; read > 0; done += read) {
      read = readSync(descriptor, window, 0, window.length, done);
      crc = crc32(window.subarray(0, read), crc);
      progress(read);
    }
    return { size, mtime: Math.round(mtimeMs), crc };
  } finally {
    closeSync(descriptor);
  }
}

/** The columns with the tail as one more line. */
export function withTail({ columns, tail }: ScannedFile): PlacedColumns {
  const count = columns.offset.length;
  const [offset, length, crc] = [
    new Float64Array(count + 1),
    new Int32Array(count + 1),
    new Int32Array(count + 1),
  ];
  offset.set(columns.offset);
  length.set(columns.length);
  crc.set(columns.crc);
  offset[count] = tail.offset;
  length[count] = tail.bytes.length;
  crc[count] = crc32(tail.bytes);
  return { offset, length, crc };
}
