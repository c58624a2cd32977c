/** The lines of what a training printed: a carriage return ends one too, since progress bars have nothing else. */
import { closeSync, readSync } from "node:fs";
import { openRegular } from "../../../../lib/inputFile.ts";

const piece = 1024 * 1024;
/** A line of metrics has some kilobytes; what is longer is something else, and is left out. */
const longest = 256 * 1024;
const [lineFeed, carriageReturn] = [10, 13];

/** What a terminal shows in colours. */
const escape = "\u001B";
const colours = new RegExp(`${escape}\\[[0-9;?]*[A-Za-z]`, "g");

/** @param most bytes to read @throws what opening the file throws */
export function* logLines(file: string, most = Number.POSITIVE_INFINITY): Generator<string> {
  const descriptor = openRegular(file);
  try {
    let held: Buffer[] = [];
    let length = 0;
    for (let total = 0; total < most;) {
      const buffer = Buffer.allocUnsafe(Math.min(piece, most - total));
      const read = readSync(descriptor, buffer, 0, buffer.length, null);
      if (read === 0) break;
      total += read;
      for (let at = 0; at < read; at++) if (buffer[at] === carriageReturn) buffer[at] = lineFeed;
      for (let from = 0; from < read;) {
        const end = buffer.subarray(0, read).indexOf(lineFeed, from);
        const part = buffer.subarray(from, end < 0 ? read : end);
        length += part.length;
        if (length <= longest) held.push(part);
        else held = [];
        if (end < 0) break;
        if (length > 0 && length <= longest) yield textOf(held);
        [held, length, from] = [[], 0, end + 1];
      }
    }
    // A last line without its end may have been cut within a number; a dict shows by its brace that it is whole.
    const rest = length <= longest ? textOf(held) : "";
    yield rest.trimEnd().endsWith("}") ? rest : rest.slice(0, Math.max(0, rest.lastIndexOf(" ")));
  } finally {
    closeSync(descriptor);
  }
}

const textOf = (parts: readonly Buffer[]): string => {
  const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8");
  return text.includes(escape) ? text.replace(colours, "") : text;
};
