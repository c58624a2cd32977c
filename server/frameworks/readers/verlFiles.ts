/** Files of the workspace that settings name: found near the configuration. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileReader } from "../text/fileReader.ts";

/** Folders above the configuration that a command may have been started from. */
const levels = 6;

/** As a shell expands the home folder. */
export const expanded = (path: string): string => path.replace(/^~(?=[\\/])/, homedir());

/** The configuration's folder and those above it, up to the repository's: a command may have been started from each. */
export function* startFolders(configuration: string): Generator<string> {
  let folder = dirname(configuration);
  for (let level = 0; level < levels; level++) {
    yield folder;
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return;
    folder = dirname(folder);
  }
}

/** Resolves a path from the configuration's folder or one above it up to the repository's; undefined if nothing is there. */
export function placeOfFile(configuration: string, path: string): string | undefined {
  const wanted = expanded(path);
  if (isAbsolute(wanted)) return existsSync(wanted) ? wanted : undefined;
  for (const folder of startFolders(configuration)) {
    const place = join(folder, wanted);
    if (existsSync(place)) return place;
  }
  return undefined;
}

const textOf = fileReader(4 << 20, (text) => text);

/** undefined if it is not there, or a large one. */
export function textOfNamed(configuration: string, path: string): string | undefined {
  const place = placeOfFile(configuration, path);
  return place === undefined ? undefined : textOf(place);
}
