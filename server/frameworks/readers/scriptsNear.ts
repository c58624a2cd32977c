/** Scripts that a launch starts, where they lie near it: a command's working folder is one above its file, most often. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ScriptLookup } from "./recognise.ts";

/** Folders above the launch that are looked through. */
const levels = 8;
const largest = 1 << 20;

/** @param file the launch */
export const scriptsNear =
  (file: string): ScriptLookup =>
  (word) => {
    // Of a path that begins with a variable, what follows is looked for.
    const path = word.replace(/^.*[$})`][\w})]*\//, "");
    for (let folder = dirname(file), level = 0; level < levels; folder = dirname(folder), level++) {
      const stats = statSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isFile() === true)
        return stats.size > largest ? undefined : readFileSync(join(folder, path), "utf8");
      if (dirname(folder) === folder || existsSync(join(folder, ".git"))) return undefined;
    }
    return undefined;
  };
