/** The files of reward functions of one's own: read, never run. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import { limits, readText } from "../../lib/inputFile.ts";

/** Absolute; undefined for a method of ours. */
export function ownFile({ term }: Pick<RewardTermConfig, "term">): string | undefined {
  const { file } = term.params;
  return typeof file === "string" ? resolve(term.folder, file) : undefined;
}

/** undefined: it is not there, or no file. */
export const sourceOf = (file: string): string | undefined =>
  existsSync(file) && statSync(file).isFile() ? readText(file, limits.source) : undefined;
