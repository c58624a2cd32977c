/**
 * Rows that scripts have built, as files of the person's own: the editor asks for them at every save. The name of a file says what
 * its rows depend on. Nothing that another user could have written is read.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";

/** Milliseconds after which rows that no check has made again are removed. */
const old = 24 * 60 * 60 * 1000;

let folder: string | undefined;

/** Found once a process. */
const kept = (): string => (folder ??= ownFolder());

function ownFolder(): string {
  const { uid, username } = userInfo();
  const path = join(tmpdir(), `gradus-rows-${uid < 0 ? username : uid}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stats = lstatSync(path);
  const isOwn = stats.isDirectory() && (uid < 0 || (stats.uid === uid && (stats.mode & 0o077) === 0));
  if (!isOwn) return mkdtempSync(join(tmpdir(), "gradus-rows-"));
  for (const name of readdirSync(path)) {
    const made = statSync(join(path, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > old) rmSync(join(path, name), { force: true });
  }
  return path;
}

/** @param hash of what the rows depend on */
export const keptPath = (hash: string): string => join(kept(), `${hash}.jsonl`);

/** Whether they are there, and as they would be made again. */
export const areKept = (hash: string): boolean =>
  [keptPath(hash), wholeMark(hash)].every(
    (file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true,
  );

const wholeMark = (hash: string): string => `${keptPath(hash)}.whole`;

/** @param whole nothing was missing where they were made @returns the file */
export function keep(hash: string, rows: string, whole: boolean): string {
  const path = keptPath(hash);
  const made = `${path}.${process.pid}`;
  writeFileSync(made, rows, { mode: 0o600 });
  putInPlace(made, path);
  if (whole) writeFileSync(wholeMark(hash), "", { mode: 0o600 });
  return path;
}
