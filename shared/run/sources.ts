/**
 * What a run was made of besides its config: `sources/<attempt>.json` in the run's folder, and next to it `texts/` with
 * the text of each file of a reward, an environment or a tool. Every attempt loads the files as they are then, so every attempt keeps its own.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { putInPlace } from "../lib/putInPlace.mjs";

/** A file of code that a reward, an environment or a tool is made of. */
const codeSchema = z.object({
  /** From the config's folder, with `/`. */
  path: z.string(),
  /** Of the text as it was loaded. */
  sha256: z.string(),
  /** The copy in `sources/texts/`; null: none is kept, since the file is not code of the workspace. */
  kept: z.string().nullable(),
  /** Whether values that look like keys or passwords were left out of the copy. */
  masked: z.boolean().optional(),
});
/** The first is the file that the config names; the others are those that it imports. */
const filesSchema = z.array(codeSchema);
const dataSchema = z.object({
  path: z.string(),
  bytes: z.number(),
  /** ISO 8601. */
  modified: z.string(),
  /** null: the run ended before the file was read to its end. */
  sha256: z.string().nullable(),
});
const pythonSchema = z.object({
  version: z.string(),
  /** Releases by the name under which pip installs them, of what this code imports. */
  packages: z.record(z.string(), z.string()),
});
const sourcesSchema = z.object({
  gradus: z.string(),
  node: z.string(),
  rewards: z.array(z.object({ term: z.string(), files: filesSchema })),
  /** Runs of earlier versions kept neither these nor tools. `task`: the source's name in the config. */
  environments: z.array(z.object({ task: z.string(), files: filesSchema })).default([]),
  /** Named as the policy calls it; several of one server are joined by ", ". */
  tools: z.array(z.object({ tool: z.string(), files: filesSchema })).default([]),
  data: z.array(dataSchema),
  /** null: none of this code is written in Python, or its interpreter did not answer. */
  python: pythonSchema.nullable(),
});
export type RunSources = z.output<typeof sourcesSchema>;
export type KeptCode = z.output<typeof codeSchema>;
export type KeptData = z.output<typeof dataSchema>;

/** Every file of code that a run was made of. */
export const codeFiles = ({ rewards, environments, tools }: RunSources): readonly KeptCode[] =>
  [...rewards, ...environments, ...tools].flatMap(({ files }) => files);

const sourcesFolder = (runFolder: string): string => join(runFolder, "sources");
const recordPath = (runFolder: string, attempt: number): string =>
  join(sourcesFolder(runFolder), `${attempt}.json`);
export const keptTextPath = (runFolder: string, kept: string): string =>
  join(sourcesFolder(runFolder), "texts", kept);

/** By rename: a reader sees the former record or this one. */
export function writeSources(runFolder: string, attempt: number, sources: RunSources): void {
  const path = recordPath(runFolder, attempt);
  mkdirSync(sourcesFolder(runFolder), { recursive: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(sources, null, 2)}\n`);
  putInPlace(`${path}.new`, path);
}

/** @param name the copy's; one that is there already has the same text */
export function keepText(runFolder: string, name: string, text: string): void {
  const path = keptTextPath(runFolder, name);
  if (existsSync(path)) return;
  mkdirSync(join(sourcesFolder(runFolder), "texts"), { recursive: true });
  writeFileSync(`${path}.new`, text);
  putInPlace(`${path}.new`, path);
}

/**
 * Of the last attempt that kept them, or of the one that is named. undefined: the run is of an earlier version, another
 * trainer made it, or its record is damaged.
 */
export function readSources(runFolder: string, attempt?: number): RunSources | undefined {
  try {
    const last = attempt ?? attemptsKept(runFolder).at(-1);
    if (last === undefined || !existsSync(recordPath(runFolder, last))) return undefined;
    return sourcesSchema.parse(JSON.parse(readFileSync(recordPath(runFolder, last), "utf8")));
  } catch {
    return undefined; // damaged: nothing that a run needs depends on it
  }
}

function attemptsKept(runFolder: string): number[] {
  const folder = sourcesFolder(runFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => /^(\d+)\.json$/.exec(name)?.slice(1).map(Number) ?? [])
    .sort((a, b) => a - b);
}

/** The text of a file as a run kept it; undefined: it kept none. */
export function readKeptText(runFolder: string, { kept }: Pick<KeptCode, "kept">): string | undefined {
  if (kept === null || kept.includes("/") || kept.includes("\\")) return undefined;
  const path = keptTextPath(runFolder, kept);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
