/** The lines of what a training printed: a carriage return ends one too, since progress bars have nothing else. */
import { closeSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { openRegular } from "../../../../lib/inputFile.ts";

const piece = 1024 * 1024;
/** Characters: a line of metrics has some thousands; what is longer is something else, and is left out. */
const longest = 256 * 1024;

/** What a terminal shows in colours. */
const escape = "\u001B";
const colours = new RegExp(`${escape}\\[[0-9;?]*[A-Za-z]`, "g");

/** @param most bytes to read @throws what opening the file throws */
export function* logLines(file: string, most = Number.POSITIVE_INFINITY): Generator<string> {
  const descriptor = openRegular(file);
  try {
    const buffer = Buffer.allocUnsafe(piece);
    let decoder: StringDecoder | undefined;
    let rest = "";
    for (let total = 0; total < most;) {
      const read = readSync(descriptor, buffer, 0, Math.min(piece, most - total), null);
      if (read === 0) break;
      total += read;
      const bytes = buffer.subarray(0, read);
      decoder ??= decoderOf(bytes);
      const lines = (rest + decoder.write(bytes)).split(/[\r\n]+/);
      // Of a line that is too long only so much is held that it stays so.
      rest = lines.pop()!.slice(0, longest + 1);
      for (const line of lines) if (line !== "" && line.length <= longest) yield plain(line);
    }
    // A last line without its end may have been cut within a number; a dict shows by its brace that it is whole.
    const last = rest.length <= longest ? plain(rest) : "";
    yield last.trimEnd().endsWith("}") ? last : last.slice(0, Math.max(0, last.lastIndexOf(" ")));
  } finally {
    closeSync(descriptor);
  }
}

/** PowerShell's `>` and `Tee-Object` write UTF-16, with a mark in front. */
const decoderOf = (bytes: Buffer): StringDecoder =>
  new StringDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf16le" : "utf8");

const plain = (line: string): string => (line.includes(escape) ? line.replace(colours, "") : line);
