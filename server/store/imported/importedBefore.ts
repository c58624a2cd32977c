import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readRunFile, runsFolder } from "../files.ts";
import type { ImportRequest } from "./importRequest.ts";

/** Runs of a store that have been imported from a folder, the newest first. */
export function importedBefore(
  store: string,
  { folder, mirror }: Pick<ImportRequest, "folder" | "mirror">,
): string[] {
  const of = mirror?.site;
  const runs = runsFolder(store);
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((name) => !name.includes("."))
    .flatMap((name) => readRunFile(join(runs, name)) ?? [])
    .filter(({ imported, site }) =>
      of === undefined ? imported === resolve(folder) : site?.site === of.site && site.folder === of.folder,
    )
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .map(({ id }) => id);
}
