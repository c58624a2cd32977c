/** What must be on the device before it counts. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";

/** How a file is opened that is to be flushed: Windows flushes only what may be written (EPERM). */
export const toFlush = "r+";

/** A folder's entries: a file is only found again once the folder that names it is on the device. Windows has no such call. */
export function flushFolder(folder: string): void {
  if (process.platform === "win32" || !existsSync(folder)) return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
