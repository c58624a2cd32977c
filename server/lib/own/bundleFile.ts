/**
 * A bundle on disk: only while a process loads it. A worker that is killed meanwhile leaves one, which the next
 * process that loads a reward removes.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "gradus-bundle-";
/** Milliseconds; a load that takes a third of it is given up. */
const abandoned = 60_000;

let swept = false;

/** @param load is given the file's path */
export async function withBundleFile<Loaded>(
  text: string,
  load: (path: string) => Promise<Loaded>,
): Promise<Loaded> {
  if (!swept) sweepBundles();
  swept = true;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  try {
    const path = join(folder, "reward.mjs");
    writeFileSync(path, text, { mode: 0o600 });
    return await load(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes what killed processes have left. */
export function sweepBundles(now = Date.now()): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - made < abandoned) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      continue; // another user's
    }
  }
}
