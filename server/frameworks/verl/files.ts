/** Files of the workspace that settings name: found near the configuration. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileReader } from "../readers/fileReader.ts";

/** Folders above the configuration that a command may have been started from. */
const levels = 6;

/** Resolves a path from the configuration's folder or one above it up to the repository's; undefined if nothing is there. */
export function placeOfFile(configuration: string, path: string): string | undefined {
  const expanded = path.replace(/^~(?=[\\/])/, homedir());
  if (isAbsolute(expanded)) return existsSync(expanded) ? expanded : undefined;
  let folder = dirname(configuration);
  for (let level = 0; level < levels; level++) {
    const place = join(folder, expanded);
    if (existsSync(place)) return place;
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return undefined;
}

const textOf = fileReader(4 << 20, (text) => text);

/** undefined if it is not there, or a large one. */
export function textOfNamed(configuration: string, path: string): string | undefined {
  const place = placeOfFile(configuration, path);
  return place === undefined ? undefined : textOf(place);
}
