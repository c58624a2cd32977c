/** Whether the files of a user's rewards are those that a run was scored with, by the hash that the run recorded. */
import { statSync } from "node:fs";
import { isObject } from "../analysis/evidence/json.ts";
import { fileReference } from "../config/check/method.ts";
import { stampOf } from "../lib/growing/fileStamp.ts";
import { rewardHash } from "../methods/reward/own/fileHash.ts";
import type { Json } from "../../shared/lib/json.ts";

interface Hashed {
  readonly stamp: string;
  /** undefined: being bundled, or it cannot be. */
  sha256: string | undefined;
}

export class RewardFiles {
  private readonly hashes = new Map<string, Hashed>();

  /** @param changed is called when a hash becomes known: answers may differ now */
  constructor(private readonly changed: () => void) {}

  /**
   * A file that was not touched since the run began is the run's. Another is bundled, which runs none of it, and
   * counts as another until its hash is known.
   */
  same(file: string, sha256: string, began: number): boolean {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (stats.mtimeMs < began) return true;
    const stamp = stampOf(stats);
    const known = this.hashes.get(file);
    if (known?.stamp === stamp) return known.sha256 === sha256;
    const hashed: Hashed = { stamp, sha256: undefined };
    this.hashes.set(file, hashed);
    void this.hash(file, hashed);
    return false;
  }

  private async hash(file: string, hashed: Hashed): Promise<void> {
    try {
      hashed.sha256 = await rewardHash(file);
      this.changed();
    } catch {
      return; // half-written: it is another file than the run's
    }
  }
}

/** As `RewardFiles.same`, and waits until the hash is known. */
export async function isRunsFile(file: string, sha256: string, began: number): Promise<boolean> {
  const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (changedAt === undefined) return false;
  if (changedAt < began) return true;
  try {
    return (await rewardHash(file)) === sha256;
  } catch {
    return false; // half-written: it is another file than the run's
  }
}

/** The file of a resolved config's term, absolute; undefined for a method of ours. */
export function rewardFileOf(term: Json | undefined): string | undefined {
  const use = isObject(term) ? term["use"] : undefined;
  return typeof use === "string" ? fileReference(use)?.path : undefined;
}
