/** Which store a file belongs to. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const storeName = ".gradus";

/**
 * The store (the `.gradus` folder) of a file or folder: that of the nearest ancestor which has one; else a new one in
 * the workspace folder that holds the file; else, on the command line, at the root of its git repository; else next to
 * it (for a folder: in it). It may not exist yet.
 */
export function findStore(path: string, workspaceFolder?: string): string {
  const start = folderOf(resolve(path));
  const nearest = climb(start, (folder) => isFolder(join(folder, storeName)));
  return join(
    nearest ?? workspaceFolder ?? climb(start, (folder) => existsSync(join(folder, ".git"))) ?? start,
    storeName,
  );
}

function folderOf(path: string): string {
  return isFolder(path) ? path : dirname(path);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function climb(start: string, holds: (folder: string) => boolean): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (holds(folder)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
