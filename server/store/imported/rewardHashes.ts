/** What the config's own reward files are at the import: an edit of one is what comes after. None of them is run. */
import { valueAt } from "../../analysis/evidence/json.ts";
import { fileReference } from "../../config/check/method.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { rewardHash } from "../../methods/reward/own/fileHash.ts";

/** By term, as a run records them. A file that cannot be read has none, and counts as edited. */
export async function rewardHashes({ tree }: RunConfig): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const term of Object.keys(valueAt(tree, ["reward", "terms"]) ?? {})) {
    const use = valueAt(tree, ["reward", "terms", term, "use"]);
    const file = typeof use === "string" ? fileReference(use) : undefined;
    if (file === undefined) continue;
    const hash = await rewardHash(file.path, term).catch(() => undefined);
    if (hash !== undefined) hashes[term] = hash;
  }
  return hashes;
}
