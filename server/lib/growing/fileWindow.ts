/** Bytes of a file that another process is writing, from where a reader has got to. */
import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegular } from "../inputFile.ts";

/** @param most bytes; fewer where the file ends @throws what opening the file throws */
export function fileWindow(
  file: string,
  offset: number,
  most: number,
): { readonly bytes: Buffer; readonly size: number } {
  const descriptor = openRegular(file);
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(most, size - offset)));
    let done = 0;
    while (done < bytes.length) {
      const read = readSync(descriptor, bytes, done, bytes.length - done, offset + done);
      if (read === 0) break;
      done += read;
    }
    return { bytes: bytes.subarray(0, done), size };
  } finally {
    closeSync(descriptor);
  }
}
