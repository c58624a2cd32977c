import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { noFile, shownPath } from "../lib/texts/shownPath.ts";
import { readFailure } from "../../shared/lib/errors.ts";
import { regularFile, statsOf } from "../lib/inputFile.ts";
import type { Fix } from "../config/check/diagnostic.ts";
import type { Origin } from "../config/text/node.ts";
import { nearest } from "../lib/suggest.ts";
import { replace } from "../config/check/report.ts";
import { relativePath } from "../../shared/lib/slashes.ts";

/** The file in a missing one's folder whose name is nearest, as `at` would write it. */
export function sibling(
  missing: string,
  at: Origin,
): { readonly hint: string; readonly fixes: readonly Fix[] } {
  const folder = dirname(missing);
  // A pipe in the file's place is there: another name is not what was meant.
  const meant =
    existsSync(folder) && !existsSync(missing) ? nearest(basename(missing), readdirSync(folder)) : undefined;
  if (meant === undefined) return { hint: "", fixes: [] };
  const path = relativePath(at.folder, join(folder, meant));
  const fix = replace(at.range, yamlText(path), `Change to \`${path}\``);
  return { hint: ` Did you mean \`${path}\`?`, fixes: [fix] };
}

/** A path in YAML: quoted where it would be read as something else. */
const yamlText = (path: string): string => (/^[\w./~+-]+$/.test(path) ? path : JSON.stringify(path));

/** Why what is there is no file; undefined where it is one, or nothing is there. */
export function unfitFile(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    regularFile(path);
    return undefined;
  } catch (error) {
    return readFailure(error);
  }
}

/** What is wrong with a named file that is not there, or is a pipe, a socket or a device. */
export function unusable(path: string, config: string): string {
  const [folder, unfit] = [dirname(config), unfitFile(path)];
  return unfit === undefined
    ? noFile(folder, path)
    : `\`${shownPath(folder, path)}\` cannot be read: ${unfit}`;
}

/** Whether there is something to be read: a file or a folder, and no pipe, socket or device. */
export function isReadable(path: string): boolean {
  const stats = statsOf(path);
  return stats !== undefined && (stats.isFile() || stats.isDirectory());
}
