/**
 * The files of a folder that another program wrote. Pipes and devices would be waited for or read without end, and a link that
 * leads out of the folder would bring another file's text into the run: they are passed over, and named.
 */
import { lstatSync, readdirSync, statSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { realPath } from "../../../shared/lib/realPath.ts";

/** Why an entry is no file of the folder; undefined: it is one. @param root the folder that a person named */
export const unfitness = (entry: Dirent, root: string): string | undefined =>
  unfitAt(join(entry.parentPath, entry.name), entry, root);

function unfitAt(
  path: string,
  entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">,
  root: string,
): string | undefined {
  if (entry.isFile() || entry.isDirectory()) return undefined;
  if (!entry.isSymbolicLink()) return "it is no regular file";
  try {
    const target = realPath(path);
    if (!liesIn(target, realPath(root))) return "it links out of the folder";
    return statSync(target).isFile() ? undefined : "it links to no regular file";
  } catch {
    return "its link leads nowhere";
  }
}

/** Names of the files in a folder that may be read, links within `root` among them. */
export const fileNames = (folder: string, root = folder): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && unfitness(entry, root) === undefined)
    .map(({ name }) => name);

/** Whether a file is there that may be read. @param root the folder that a person named */
export function isOwnFile(path: string, root: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && !entry.isDirectory() && unfitAt(path, entry, root) === undefined;
}

/** What of a folder is passed over, in words; of a file that is named itself nothing. */
export function passedOver(folder: string, isMeant: (name: string) => boolean): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const why = isMeant(entry.name) ? unfitness(entry, folder) : undefined;
    return why === undefined ? [] : [`${entry.name} was passed over: ${why}`];
  });
}
