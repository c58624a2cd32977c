/** The lines of a file that another process is writing: each once, when it is whole. */
import { closeSync, fstatSync, readSync } from "node:fs";
import { limits, openRegular } from "../inputFile.ts";

const newline = 10;

export class LineTail {
  /** @param offset where lines begin that have not been read */
  constructor(
    readonly file: string,
    private offset = 0,
  ) {}

  /** Bytes that have been read as lines. */
  get position(): number {
    return this.offset;
  }

  /**
   * Lines that have been written since the last call.
   * @param most bytes to read, more where one line is longer
   * @throws what opening the file throws
   */
  next(most: number): { readonly lines: readonly string[]; readonly bytes: number; readonly more: boolean } {
    const descriptor = openRegular(this.file);
    try {
      const { size } = fstatSync(descriptor);
      // A file that was cut or replaced is another: it is read from its start.
      if (size < this.offset) this.offset = 0;
      for (let room = most; ; room *= 2) {
        const wanted = Math.min(room, size - this.offset);
        const bytes = Buffer.allocUnsafe(wanted);
        const read = wanted === 0 ? 0 : readSync(descriptor, bytes, 0, wanted, this.offset);
        const end = bytes.lastIndexOf(newline, read - 1) + 1;
        if (read === 0 || (end === 0 && (wanted < room || room >= limits.line)))
          return { lines: [], bytes: 0, more: false };
        if (end === 0) continue;
        this.offset += end;
        const lines = bytes.toString("utf8", 0, end - 1).split("\n");
        return { lines, bytes: end, more: this.offset < size };
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** What follows the last line break: half a line, or a last one without it. */
  rest(): string {
    const descriptor = openRegular(this.file);
    try {
      const length = Math.min(Math.max(0, fstatSync(descriptor).size - this.offset), limits.line);
      const bytes = Buffer.allocUnsafe(length);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, length, this.offset));
    } finally {
      closeSync(descriptor);
    }
  }
}
