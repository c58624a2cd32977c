/** Lines appended to a file that others append to as well. */
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const newline = 10;

/**
 * In one write, so that they do not mix with what others append, and flushed. The file is made where there is none.
 * Half a line that a writer left when it was killed is ended first, so that it costs nobody else a line.
 * @throws what opening and writing throw
 */
export function appendLines(file: string, lines: readonly string[]): void {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, "a+");
  try {
    const text = `${endsALine(descriptor) ? "" : "\n"}${lines.join("\n")}\n`;
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function endsALine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  return size === 0 || readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === newline;
}
