import { createHash } from "node:crypto";
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
  const { store, name, config, copy, sourceRun, mirror } = request;
  if (copy || mirror !== undefined) return undefined;
  const [last] = runsOf(store, request);
  if (last === undefined || last.sourceRun !== sourceRun) return undefined;
  if ((name !== undefined && name !== last.name) || last.file !== configFile(request, "")) return undefined;
  if (JSON.stringify(config?.set ?? []) !== JSON.stringify(last.set)) return undefined;
  if (config?.text !== authoredOf(runFolder(store, last.id))) return undefined;
  return last.sourceState !== undefined && last.sourceState === request.sourceState ? last.id : undefined;
}

function authoredOf(folder: string): string | undefined {
  const file = authoredPath(folder);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/**
 * Names, sizes and times of a file or of all files below a folder, in one word: it is another once anything there is written,
 * removed or copied over. A store within it is none of it, nor a folder that is linked. Not their times alone: a file system's
 * clock goes in steps of some milliseconds, so what is written right after an import may look older.
 */
export function sourceStateOf(source: string): string {
  const hash = createHash("sha256");
  const visit = (path: string, name: string): void => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isDirectory())
      // A copy may keep the time of what it was copied from, and has a new one of its own.
      return void hash.update(JSON.stringify([name, stats.size, stats.mtimeMs, stats.ctimeMs]));
    const entries = readdirSync(path, { withFileTypes: true })
      .filter((one) => !one.name.startsWith("."))
      .filter((one) => !(one.isSymbolicLink() && isFolder(join(path, one.name))));
    for (const one of entries.map((entry) => entry.name).sort()) visit(join(path, one), `${name}/${one}`);
  };
  visit(resolve(source), "");
  return hash.digest("base64url").slice(0, 22);
}

/** A link that leads nowhere, or round, is passed over as well. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return true;
  }
}
