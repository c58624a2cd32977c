import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readRunFile, runsFolder } from "../files.ts";

/** Runs of a store that have been imported from a folder, the newest first. */
export function importedBefore(store: string, folder: string): string[] {
  const runs = runsFolder(store);
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((name) => !name.includes("."))
    .flatMap((name) => readRunFile(join(runs, name)) ?? [])
    .filter(({ imported }) => imported === folder)
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .map(({ id }) => id);
}
