/** Files of the workspace that settings name: found near the configuration, read again only when they change. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Folders above the configuration that a command may have been started from. */
const levels = 6;
const largest = 4 << 20;

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

const texts = new Map<string, { readonly stamp: string; readonly text: string }>();

/** undefined if it is not a file, or a large one. */
export function textOfFile(place: string): string | undefined {
  const stats = statSync(place);
  if (!stats.isFile() || stats.size > largest) return undefined;
  const stamp = `${stats.mtimeMs}:${stats.size}`;
  const known = texts.get(place);
  if (known?.stamp === stamp) return known.text;
  const text = readFileSync(place, "utf8");
  texts.set(place, { stamp, text });
  return text;
}
