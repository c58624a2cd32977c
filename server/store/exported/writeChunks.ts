import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Bytes that are written at once. */
const atOnce = 1024 * 1024;

/** A file of its own, its folder made. */
export function writeChunks(file: string, chunks: Iterable<Buffer>): void {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, "wx");
  try {
    let held: Buffer[] = [];
    let bytes = 0;
    const flush = (): void => {
      writeSync(descriptor, Buffer.concat(held));
      held = [];
      bytes = 0;
    };
    for (const chunk of chunks) {
      held.push(chunk);
      bytes += chunk.length;
      if (bytes >= atOnce) flush();
    }
    flush();
  } finally {
    closeSync(descriptor);
  }
}
