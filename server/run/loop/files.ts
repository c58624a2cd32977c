/** The files of a run's folder that are not the log: what was asked for, and the config as it was then. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { runIdSchema } from "../../../shared/run/runId.ts";
import type { RunFile } from "../../../shared/run/run.ts";
import { configPlace } from "../../../shared/run/runPlace.ts";
import type { LoadedConfig } from "../../rules/load.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { differences, type Difference } from "../checkpoint/identity.ts";
import { keptExam, resolvedIn, withExam } from "./keptExam.ts";
import { loadWith, readSettings, type Setting } from "./settings.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

const runSchema = z.object({
  id: runIdSchema,
  file: z.string(),
  relative: z.string().optional(),
  name: z.string(),
  set: z.array(z.string()),
  steps: z.number().int().optional(),
  seed: z.number().int().optional(),
  python: z.string().optional(),
  parent: z.object({ run: runIdSchema, step: z.number().int() }).optional(),
  fresh: z.boolean().optional(),
  createdAt: z.string(),
});

const runFilePath = (folder: string): string => join(folder, "run.json");
export const authoredPath = (folder: string): string => join(folder, "authored.gradus.yaml");
export const resolvedPath = (folder: string): string => join(folder, "resolved.json");

/** @throws UserError when the folder is not that of a run */
export function readRunFile(folder: string): RunFile {
  try {
    const run = runSchema.parse(JSON.parse(readFileSync(runFilePath(folder), "utf8")));
    const { relative, steps, seed, python, parent, fresh, ...rest } = run;
    const resolved = resolvedIn(resolvedPath(folder));
    return {
      ...rest,
      set: [...(resolved === undefined ? [] : keptExam(resolved)), ...rest.set],
      file: configPlace(folder, { file: run.file, ...(relative === undefined ? {} : { relative }) }),
      ...(relative === undefined ? {} : { relative }),
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
      ...(python === undefined ? {} : { python }),
      ...(parent === undefined ? {} : { parent }),
      ...(fresh === undefined ? {} : { fresh }),
    };
  } catch (error) {
    throw new UserError(`This is not a run's folder: ${messageOf(error)}.`, {
      file: runFilePath(folder),
      code: "run-file",
      cause: error,
      action: "Start runs with `gradus run FILE`.",
    });
  }
}

export interface StoredConfig extends LoadedConfig {
  /** As its author wrote it when the run was first started. */
  readonly authored: string;
  /** A resumed run resolves otherwise than it did at first: a file it extends, or a default, has changed. */
  readonly changed: boolean;
  /** What was set while it was live; the config holds these values. */
  readonly settings: readonly Setting[];
}

/** The config of a run: read from its file by the first attempt and kept, so that later edits don't reach a resumed run. */
export function storedConfig(folder: string, run: RunFile): StoredConfig {
  const kept = existsSync(authoredPath(folder));
  const authored = kept ? readFileSync(authoredPath(folder), "utf8") : authoredOf(run);
  const loaded = loadWith(run, authored, []);
  const settings = readSettings(folder);
  // The daemon keeps the text of a converted config before there is a worker to resolve it.
  if (kept && !existsSync(resolvedPath(folder))) keep(resolvedPath(folder), JSON.stringify(loaded.tree));
  if (kept) {
    const changed = differs(resolvedPath(folder), loaded.tree);
    return {
      ...(settings.length === 0 ? loaded : loadWith(run, authored, settings)),
      authored,
      changed,
      settings,
    };
  }
  keep(resolvedPath(folder), JSON.stringify(loaded.tree));
  keep(authoredPath(folder), authored);
  return { ...loaded, authored, changed: false, settings };
}

function authoredOf(run: RunFile): string {
  try {
    return readFileSync(run.file, "utf8");
  } catch (error) {
    throw new UserError(`The config cannot be read: ${messageOf(error)}.`, {
      file: run.file,
      code: "missing-file",
      cause: error,
      action: "Put the file back where it was, then resume the run.",
    });
  }
}

/** Temporary name and rename: a full disk leaves no half of a config for a resumed run to read. */
function keep(path: string, text: string): void {
  const draft = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    putInPlace(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UserError(`The run's config cannot be saved: ${messageOf(error)}.`, {
      file: path,
      code: "config-not-kept",
      cause: error,
      action: "Free space on this disk or fix the folder's permissions, then resume the run.",
    });
  }
}

function differs(path: string, tree: JsonObject): boolean {
  const before = resolvedIn(path);
  return before !== undefined && !isDeepStrictEqual(withExam(before), JSON.parse(JSON.stringify(tree)));
}

/** In what a config differs from the one that the run began with. */
export function changesSince(folder: string, { tree, file }: Pick<RunConfig, "tree" | "file">): Difference[] {
  const before = resolvedIn(resolvedPath(folder));
  if (before === undefined) return [];
  const now: JsonObject = JSON.parse(JSON.stringify(tree));
  const began = runSchema.parse(JSON.parse(readFileSync(runFilePath(folder), "utf8"))).file;
  return differences(withExam(before), now, [[dirname(began), dirname(file)]]);
}
