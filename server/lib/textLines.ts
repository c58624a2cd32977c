/** A text file line by line, without ever holding more of it than one line. */
import { closeSync, readSync } from "node:fs";
import { UserError } from "../../shared/lib/errors.ts";
import { inWords, limits, openRegular } from "./inputFile.ts";

const piece = 2 ** 20;

/**
 * The lines, without their ends; an empty rest after the last end is not a line.
 * @throws UserError naming a line that is too long; what opening it throws where the file cannot be read
 */
export function* textLines(file: string, most: number = limits.line): Generator<string> {
  const descriptor = openRegular(file);
  try {
    let line = 0;
    let held: Buffer[] = [];
    let length = 0;
    for (;;) {
      const buffer = Buffer.allocUnsafe(piece);
      const read = readSync(descriptor, buffer, 0, piece, null);
      if (read === 0) break;
      let from = 0;
      for (;;) {
        const end = buffer.subarray(0, read).indexOf(10, from);
        const part = buffer.subarray(from, end < 0 ? read : end);
        length += part.length;
        if (length > most) throw tooLong(file, line, most);
        held.push(part);
        if (end < 0) break;
        yield textOf(held, length);
        [held, length, from] = [[], 0, end + 1];
        line += 1;
      }
    }
    if (length > 0) yield textOf(held, length);
  } finally {
    closeSync(descriptor);
  }
}

const textOf = (held: readonly Buffer[], length: number): string =>
  (held.length === 1 ? held[0]! : Buffer.concat(held, length)).toString("utf8").replace(/\r$/, "");

const tooLong = (file: string, line: number, most: number): UserError =>
  new UserError(`the line is longer than ${inWords(most)}, which is the most that a line may have`, {
    file,
    line,
    character: 0,
    code: "line-length",
    action: "Split the line: a JSONL file has one JSON object per line.",
  });
