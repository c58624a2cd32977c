/** Where a run's config lies now: a project may have been moved or copied with its store since the run began. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { withDrive } from "../lib/drive.ts";
import { isSamePath } from "../lib/liesIn.ts";
import { realPath } from "../lib/realPath.ts";
import { fromAnySystem } from "../lib/slashes.ts";
import type { RunFile } from "./run.ts";

/**
 * The config's path. If the store was moved or copied, the config that went with it.
 * @param folder of the run
 */
export function configPlace(folder: string, { file, relative }: Pick<RunFile, "file" | "relative">): string {
  if (relative === undefined) return existsSync(file) ? file : (withStore(folder, file) ?? file);
  const moved = withDrive(resolve(folder, fromAnySystem(relative)));
  if (isSame(moved, file)) return file;
  if (existsSync(moved)) return moved;
  // The run has a copy of the text: what counts is where the paths in it begin.
  return !existsSync(dirname(file)) && existsSync(dirname(moved)) ? moved : file;
}

function isSame(a: string, b: string): boolean {
  return isSamePath(a, b) || (existsSync(a) && existsSync(b) && realPath(a) === realPath(b));
}

/** Of runs that do not know where their config was relative to the store: the longest ending of its path that is there. */
function withStore(folder: string, file: string): string | undefined {
  const project = withDrive(resolve(folder, "..", "..", ".."));
  const parts = file.split(/[\\/]/).slice(1);
  return parts.map((_, at) => join(project, ...parts.slice(at))).find((path) => existsSync(path));
}
