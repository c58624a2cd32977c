// Renames that wait on Windows. JavaScript without dependencies: set-up uses it before anything is installed.
import { renameSync } from "node:fs";

/** What Windows answers while another process has a file open, or looks into a folder, as a virus scanner does: it is done within moments. */
const refusals = new Set(["EPERM", "EACCES", "EBUSY"]);
/** Milliseconds before each further try: 2 s in all. */
const pauses = [5, 15, 30, 50, 100, 200, 400, 600, 600];

const trying = {
  rename: renameSync,
  platform: process.platform,
  wait: (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds),
};

export function putInPlace(draft, place, { rename, platform, wait } = trying) {
  for (const pause of platform === "win32" ? pauses : [])
    try {
      return rename(draft, place);
    } catch (error) {
      if (!refusals.has(error?.code)) throw error;
      wait(pause);
    }
  rename(draft, place);
}
