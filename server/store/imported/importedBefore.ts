import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RunFile } from "../../../shared/run/run.ts";
import { authoredPath, readRunFile, runFolder, runsFolder } from "../files.ts";
import type { ImportRequest } from "./importRequest.ts";
import { configFile } from "./runDraft.ts";

/** Runs of a store that have been imported from a folder, the newest first. */
export const importedBefore = (
  store: string,
  request: Pick<ImportRequest, "folder" | "mirror">,
): readonly string[] => runsOf(store, request).map(({ id }) => id);

function runsOf(store: string, { folder, mirror }: Pick<ImportRequest, "folder" | "mirror">): RunFile[] {
  const of = mirror?.site;
  const runs = runsFolder(store);
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((name) => !name.includes("."))
    .flatMap((name) => readRunFile(join(runs, name)) ?? [])
    .filter(({ imported, site }) =>
      of === undefined ? imported === resolve(folder) : site?.site === of.site && site.folder === of.folder,
    )
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
}

/** The last run of the same folder, where an import would be the same again; undefined: there is none. */
export function alreadyImported(request: ImportRequest): string | undefined {
  const { store, folder, name, config, copy, sourceRun, mirror } = request;
  if (copy || mirror !== undefined) return undefined;
  const [last] = runsOf(store, request);
  if (last === undefined || last.sourceRun !== sourceRun) return undefined;
  if ((name !== undefined && name !== last.name) || last.file !== configFile(request, "")) return undefined;
  if (JSON.stringify(config?.set ?? []) !== JSON.stringify(last.set)) return undefined;
  if (config?.text !== authoredOf(runFolder(store, last.id))) return undefined;
  return isOlder(resolve(folder), Date.parse(last.createdAt)) ? last.id : undefined;
}

function authoredOf(folder: string): string | undefined {
  const file = authoredPath(folder);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Nothing of it has been written, copied there or removed since. A store within it is none of it, nor a folder that is linked. */
function isOlder(path: string, time: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  // A copy may keep the time of what it was copied from, and has a new one of its own.
  if (stats === undefined || Math.max(stats.mtimeMs, stats.ctimeMs) > time) return false;
  if (!stats.isDirectory()) return true;
  return readdirSync(path, { withFileTypes: true })
    .filter((one) => !one.name.startsWith(".") && !(one.isSymbolicLink() && isFolder(join(path, one.name))))
    .every(({ name }) => isOlder(join(path, name), time));
}

/** A link that leads nowhere, or round, is passed over as well. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return true;
  }
}
