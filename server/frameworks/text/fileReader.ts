/** Files near a configuration, each read once for as long as it does not change. */
import { readFileSync } from "node:fs";
import { UserError } from "../../../shared/lib/errors.ts";
import { limits, statsOf } from "../../lib/inputFile.ts";
import { isNotebook, pythonText } from "../../lib/notebook/notebook.ts";

/**
 * What some reading makes of a file's text; undefined if there is no such file, or a larger one.
 * @param largest in bytes
 */
export function fileReader<T>(largest: number, read: (text: string) => T): (path: string) => T | undefined {
  const known = new Map<string, { readonly stamp: string; readonly result: T }>();
  return (path) => {
    const stats = statsOf(path);
    if (stats?.isFile() !== true || stats.size > largest) return undefined;
    const stamp = `${stats.mtimeMs}:${stats.size}`;
    const last = known.get(path);
    if (last?.stamp === stamp) return last.result;
    const result = read(readFileSync(path, "utf8"));
    known.set(path, { stamp, result });
    return result;
  };
}

const small = fileReader(1 << 18, (text) => text);
/** What the file is called does not matter to its JSON. */
const notebook = fileReader(limits.source, (text) => {
  try {
    return pythonText(".ipynb", text);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
});

/** The text of a small file of sources or of requirements; of a notebook, the module of its cells. */
export const smallText = (path: string): string | undefined =>
  isNotebook(path) ? notebook(path) : small(path);
