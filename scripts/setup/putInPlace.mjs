// Renames, for scripts that run before anything is bundled; shared/lib/putInPlace.ts is the same for all else.
import { renameSync } from "node:fs";

const pauses = process.platform === "win32" ? [5, 15, 30, 50, 100, 200, 400, 600, 600] : [];

/** Windows refuses while another process, often a virus scanner, looks at what is new. */
export function putInPlace(draft, place) {
  for (const pause of pauses)
    try {
      return renameSync(draft, place);
    } catch (error) {
      if (!["EPERM", "EACCES", "EBUSY"].includes(error.code)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
  renameSync(draft, place);
}
