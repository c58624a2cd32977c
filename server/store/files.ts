/** What a store's folder holds: `store.sqlite` and, for each run, `runs/<id>/` with its files. */
import { externalEngines } from "../../shared/run/trainers.ts";
import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readControl } from "../../shared/run/controlFile.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { parseShallow } from "../../shared/lib/json.ts";
import { isRunId, runIdSchema } from "../../shared/run/runId.ts";
import type { ControlLine, RunFile, SiteFolder } from "../../shared/run/run.ts";
import { configPlace } from "../../shared/run/runPlace.ts";

export const databasePath = (store: string): string => join(store, "store.sqlite");
export const runsFolder = (store: string): string => join(store, "runs");

/**
 * The folder of a run: directly in `runs/`, whoever named the run.
 * @throws UserError where the id is none, or the folder is a link that leads elsewhere
 */
export function runFolder(store: string, run: string): string {
  if (!isRunId(run))
    throw new UserError(`There is no run ${JSON.stringify(run.slice(0, 80))} in this store.`, {
      code: "unknownRun",
      action: "List the runs: gradus runs list.",
    });
  const folder = join(runsFolder(store), run);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new UserError(`The folder ${folder} is a symbolic link, but runs must be in their store.`, {
      file: folder,
      code: "refused",
      action: "Remove the link and move the run's folder here, or link the whole .gradus folder.",
    });
  return folder;
}
export const runFilePath = (folder: string): string => join(folder, "run.json");
/** The config as it was when the run began: what a resumed run goes by. */
export const authoredPath = (folder: string): string => join(folder, "authored.gradus.yaml");
/** A folder of another machine, as far as it has been brought here. */
export const mirrorPath = (folder: string): string => join(folder, "mirror");
export const workerLogPath = (folder: string): string => join(folder, "worker.log");

/** A new store is its owner's alone, and keeps itself out of the workspace's version control. */
export function makeStore(store: string): void {
  mkdirSync(store, { recursive: true, mode: 0o700 });
  const ignore = join(store, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}

/**
 * Readable, sortable, and unique by its ending: `countdown-sec-20260102-030405-1f2e`.
 * @param otherwise in the place of a name without a letter or digit
 */
export function newRunId(name: string, createdAt: string, otherwise = "run"): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  const [date, time] = createdAt.slice(0, 19).replace(/[-:]/g, "").split("T");
  return `${slug === "" ? otherwise : slug}-${date}-${time}-${randomBytes(2).toString("hex")}`;
}

/** A deleted run is renamed first, so that it is gone at once and for good, and removed afterwards. */
export const trashPrefix = ".trash-";

/** Run folders: those with a run.json or a log. A link is none, nor a name that is no id. */
export function runIds(store: string): string[] {
  const folder = runsFolder(store);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) =>
        isRunId(entry.name) &&
        entry.isDirectory() &&
        (existsSync(runFilePath(join(folder, entry.name))) || existsSync(join(folder, entry.name, "log"))),
    )
    .map(({ name }) => name);
}

const runSchema = z.object({
  id: runIdSchema,
  file: z.string(),
  relative: z.string().optional(),
  name: z.string(),
  set: z.array(z.string()).default([]),
  steps: z.number().int().optional(),
  seed: z.number().int().optional(),
  python: z.string().optional(),
  parent: z.object({ run: runIdSchema, step: z.number().int() }).optional(),
  fresh: z.boolean().optional(),
  imported: z.string().optional(),
  site: z
    .object({
      site: z.string(),
      folder: z.string(),
      engine: z.enum(externalEngines).optional(),
      estimate: z.object({ low: z.number(), high: z.number() }).optional(),
    })
    .optional(),
  sourceRun: z.string().optional(),
  sourceState: z.string().optional(),
  createdAt: z.string(),
});

/** null: a run that something other than the daemon made, known by its log alone. */
export function readRunFile(folder: string): RunFile | null {
  try {
    const run = runSchema.parse(parseShallow(readFileSync(runFilePath(folder), "utf8")));
    const { relative, steps, seed, python, parent, fresh, imported, site, sourceRun, sourceState, ...rest } =
      run;
    return {
      ...rest,
      file: configPlace(folder, { file: run.file, ...(relative === undefined ? {} : { relative }) }),
      ...(relative === undefined ? {} : { relative }),
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
      ...(python === undefined ? {} : { python }),
      ...(parent === undefined ? {} : { parent }),
      ...(fresh === undefined ? {} : { fresh }),
      ...(imported === undefined ? {} : { imported }),
      ...(site === undefined ? {} : { site: siteFolder(site) }),
      ...(sourceRun === undefined ? {} : { sourceRun }),
      ...(sourceState === undefined ? {} : { sourceState }),
    };
  } catch {
    return null; // absent, or cut off by a crash: the log's start record says the same
  }
}

const siteFolder = ({
  engine,
  estimate,
  ...site
}: NonNullable<z.output<typeof runSchema>["site"]>): SiteFolder => ({
  ...site,
  ...(engine === undefined ? {} : { engine }),
  ...(estimate === undefined ? {} : { estimate }),
});

const parentSchema = runSchema.pick({ parent: true });

/** Of a fork; without a look at where its config lies now. */
export function readParent(folder: string): RunFile["parent"] {
  const path = runFilePath(folder);
  if (!existsSync(path)) return undefined;
  try {
    return parentSchema.parse(JSON.parse(readFileSync(path, "utf8"))).parent;
  } catch {
    return undefined; // cut off by a crash
  }
}

const controlSchema = z.looseObject({
  id: z.string(),
  action: z.enum(["stop", "pause", "continue", "checkpoint", "set"]),
});

/** What the control line of this id asked for. */
export function controlAction(folder: string, id: string): ControlLine["action"] | null {
  for (const line of readControl(folder).toString("utf8").split("\n")) {
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
