/** Files near a configuration, each read once for as long as it does not change. */
import { readFileSync, statSync } from "node:fs";

/**
 * What some reading makes of a file's text; undefined if there is no such file, or a larger one.
 * @param largest in bytes
 */
export function fileReader<T>(largest: number, read: (text: string) => T): (path: string) => T | undefined {
  const known = new Map<string, { readonly stamp: string; readonly result: T }>();
  return (path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > largest) return undefined;
    const stamp = `${stats.mtimeMs}:${stats.size}`;
    const last = known.get(path);
    if (last?.stamp === stamp) return last.result;
    const result = read(readFileSync(path, "utf8"));
    known.set(path, { stamp, result });
    return result;
  };
}

/** The text of a small file of sources or of requirements. */
export const smallText = fileReader(1 << 18, (text) => text);
