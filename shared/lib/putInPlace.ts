import { renameSync } from "node:fs";

/** What Windows answers while another process has a file open, or looks into a folder: it is done within moments. */
const refusals: ReadonlySet<unknown> = new Set(["EPERM", "EACCES", "EBUSY"]);
/** Milliseconds before each further try: 2 s in all. */
const pauses = [5, 15, 30, 50, 100, 200, 400, 600, 600] as const;

/** How it is tried: a test gives its own. */
interface Trying {
  readonly rename: (from: string, to: string) => void;
  readonly platform: NodeJS.Platform;
  readonly wait: (milliseconds: number) => void;
}

const trying: Trying = {
  rename: renameSync,
  platform: process.platform,
  wait: (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds),
};

/**
 * Puts a draft in its place, in one step: whoever reads finds what was there or all of the new. On Windows it waits for those who
 * read what was there.
 * @throws as `renameSync` does
 */
export function putInPlace(draft: string, place: string, { rename, platform, wait }: Trying = trying): void {
  for (const pause of platform === "win32" ? pauses : [])
    try {
      return rename(draft, place);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && refusals.has(error.code))) throw error;
      wait(pause);
    }
  rename(draft, place);
}
