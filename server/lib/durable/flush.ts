/** What must be on the device before it counts. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";

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
