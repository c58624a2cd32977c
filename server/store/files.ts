/** What a store's folder holds: `store.sqlite` and, for each run, `runs/<id>/` with its files. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ControlLine, RunFile } from "../../shared/run.ts";
import { configPlace } from "../../shared/runPlace.ts";

export const databasePath = (store: string): string => join(store, "store.sqlite");
export const runsFolder = (store: string): string => join(store, "runs");
export const runFolder = (store: string, run: string): string => join(runsFolder(store), run);
export const runFilePath = (folder: string): string => join(folder, "run.json");
/** The config as it was when the run began: what a resumed run goes by. */
export const authoredPath = (folder: string): string => join(folder, "authored.gradus.yaml");
export const controlPath = (folder: string): string => join(folder, "control.jsonl");
export const workerLogPath = (folder: string): string => join(folder, "worker.log");

/** A deleted run is renamed first, so that it is gone at once and for good, and removed afterwards. */
export const trashPrefix = ".trash-";

/** Run folders: those with a run.json or a log. */
export function runIds(store: string): string[] {
  const folder = runsFolder(store);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter(
    (name) =>
      !name.startsWith(".") &&
      (existsSync(runFilePath(join(folder, name))) || existsSync(join(folder, name, "log"))),
  );
}

const runSchema = z.object({
  id: z.string(),
  file: z.string(),
  relative: z.string().optional(),
  name: z.string(),
  set: z.array(z.string()).default([]),
  steps: z.number().int().optional(),
  seed: z.number().int().optional(),
  createdAt: z.string(),
});

/** null: a run that something other than the daemon made, known by its log alone. */
export function readRunFile(folder: string): RunFile | null {
  try {
    const run = runSchema.parse(JSON.parse(readFileSync(runFilePath(folder), "utf8")));
    const { relative, steps, seed, ...rest } = run;
    return {
      ...rest,
      file: configPlace(folder, { file: run.file, ...(relative === undefined ? {} : { relative }) }),
      ...(relative === undefined ? {} : { relative }),
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
    };
  } catch {
    return null; // absent, or cut off by a crash: the log's start record says the same
  }
}

const controlSchema = z.looseObject({
  id: z.string(),
  action: z.enum(["stop", "pause", "continue", "checkpoint", "set"]),
});

/** What the control line of this id asked for. */
export function controlAction(folder: string, id: string): ControlLine["action"] | null {
  const path = controlPath(folder);
  if (!existsSync(path)) return null;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.includes(id)) continue;
    const parsed = controlSchema.safeParse(jsonOrNull(line));
    if (parsed.success && parsed.data.id === id) return parsed.data.action;
  }
  return null;
}

function jsonOrNull(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // a line that is still being written
  }
}
