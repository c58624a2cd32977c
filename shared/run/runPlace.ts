/** Where a run's config lies now: a project may have been moved or copied with its store since the run began. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { RunFile } from "./run.ts";

/**
 * The config's path. If the store was moved or copied, the config that went with it.
 * @param folder of the run
 */
export function configPlace(folder: string, { file, relative }: Pick<RunFile, "file" | "relative">): string {
  if (relative === undefined) return existsSync(file) ? file : (withStore(folder, file) ?? file);
  const moved = resolve(folder, relative);
  if (moved === file || isSame(moved, file)) return file;
  if (existsSync(moved)) return moved;
  // The run has a copy of the text: what counts is where the paths in it begin.
  return !existsSync(dirname(file)) && existsSync(dirname(moved)) ? moved : file;
}

function isSame(a: string, b: string): boolean {
  return existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);
}

/** Of runs that do not know where their config was relative to the store: the longest ending of its path that is there. */
function withStore(folder: string, file: string): string | undefined {
  const project = resolve(folder, "..", "..", "..");
  const parts = file.split(sep).slice(1);
  return parts.map((_, at) => join(project, ...parts.slice(at))).find((path) => existsSync(path));
}
