/** The end of files that are too large to be read to their end at once. */
import { fileWindow } from "../../../../lib/growing/fileWindow.ts";

/** Smaller files are read from their start in no time. */
const large = 32 * 1024 * 1024;
const windowBytes = 4 * 1024 * 1024;
/** A process that has written nothing for so long before the last one did is not part of the newest steps. */
const togetherWithin = 60_000;

export interface Sized {
  readonly file: string;
  readonly size: number;
  readonly mtime: number;
}

/**
 * Whole lines near the end of each file that is still written to; none where there is little to read.
 * @returns the lines by file, and whether earlier ones were left out
 */
export function newestLines<File extends Sized>(
  files: readonly File[],
): readonly { readonly of: File; readonly lines: readonly string[]; readonly cut: boolean }[] {
  if (files.reduce((sum, { size }) => sum + size, 0) < large) return [];
  const last = Math.max(...files.map(({ mtime }) => mtime));
  return files
    .filter(({ mtime }) => last - mtime <= togetherWithin)
    .map((of) => {
      const from = Math.max(0, of.size - windowBytes);
      const text = fileWindow(of.file, from, windowBytes).bytes.toString("utf8");
      const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
      return { of, lines: from > 0 ? lines.slice(1) : lines, cut: from > 0 };
    });
}
