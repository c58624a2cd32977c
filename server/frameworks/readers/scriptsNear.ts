/** Scripts near a launch that it starts: a command's working folder is most often one above its file. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ScriptLookup } from "./recognise.ts";
import { statsOf } from "../../lib/inputFile.ts";

/** Folders above the launch that are looked through. */
const levels = 8;
const largest = 1 << 20;

/** @param file the launch */
export const scriptsNear =
  (file: string): ScriptLookup =>
  (word) => {
    // For a path that begins with a variable, the rest is looked up.
    const path = word.replace(/^.*[$})`][\w})]*\//, "");
    for (let folder = dirname(file), level = 0; level < levels; folder = dirname(folder), level++) {
      const stats = statsOf(join(folder, path));
      if (stats?.isFile() === true)
        return stats.size > largest ? undefined : readFileSync(join(folder, path), "utf8");
      if (dirname(folder) === folder || existsSync(join(folder, ".git"))) return undefined;
    }
    return undefined;
  };
