/** Files that a path may mean, as the config would write them. */
import { readdirSync, type Dirent } from "node:fs";
import { join, resolve } from "node:path";

interface FileOffer {
  /** Relative to the config's folder, with `./`; a folder ends in `/`. */
  readonly text: string;
  readonly folder: boolean;
}

const deepest = 3;
const most = 200;
const isHidden = (name: string): boolean =>
  name.startsWith(".") ||
  name === "node_modules" ||
  name === "__pycache__" ||
  name === "dist" ||
  name === "out";

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).slice(0, 2_000);
  } catch {
    // A folder that is not there offers nothing.
    return [];
  }
}

const fits = (name: string, ends: readonly string[]): boolean => ends.some((end) => name.endsWith(end));

/**
 * The fitting files of the folder that a written beginning names, and of the few levels below it; of a beginning
 * that names one, the folders in it as well.
 */
export function filesFor(written: string, folder: string, ends: readonly string[]): FileOffer[] {
  const slash = written.lastIndexOf("/");
  // Who begins without `./` goes on without it.
  const start = slash >= 0 ? written.slice(0, slash + 1) : /^\w/.test(written) ? "" : "./";
  const from = resolve(folder, start);
  const folders =
    slash < 0 ? [] : entriesOf(from).filter((entry) => entry.isDirectory() && !isHidden(entry.name));
  return [
    ...below(from, start, ends, 0),
    ...folders.map(({ name }) => ({ text: `${start}${name}/`, folder: true })),
  ];
}

function below(folder: string, start: string, ends: readonly string[], depth: number): FileOffer[] {
  const entries = entriesOf(folder).filter(({ name }) => !isHidden(name));
  const files = entries
    .filter((entry) => !entry.isDirectory() && fits(entry.name, ends))
    .map(({ name }) => ({ text: `${start}${name}`, folder: false }));
  if (depth >= deepest) return files;
  const folders = entries.filter((entry) => entry.isDirectory()).slice(0, 50);
  const deeper = folders.flatMap(({ name }) =>
    below(join(folder, name), `${start}${name}/`, ends, depth + 1),
  );
  return [...files, ...deeper].slice(0, most);
}
