/**
 * Values set while a run is live (`gradus runs set`): which may be, what they are checked against, and where they are
 * kept so that a resumed run goes on with them (`settings.jsonl` in the run's folder, one a line).
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { RunFile } from "../../../shared/run/run.ts";
import { needs } from "../../config/needs.ts";
import { isLive, liveKeys } from "../../config/grammar/live.ts";
import { loadConfig, type LoadedConfig } from "../../rules/load.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";

export interface Setting {
  /** As `--set` addresses it. */
  readonly path: string;
  readonly value: Json;
  /** Last finished step when it was set. */
  readonly step: number;
}

const schema: z.ZodType<Setting> = z.object({ path: z.string(), value: z.json(), step: z.number().int() });
const settingsPath = (folder: string): string => join(folder, "settings.jsonl");

const changeable = (): string => {
  const keys = liveKeys();
  return `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}`;
};

export const assignment = ({ path, value }: Pick<Setting, "path" | "value">): string =>
  `${path}=${JSON.stringify(value)}`;

/** What was set in earlier attempts and in this one, in order. @throws UserError where the file is damaged */
export function readSettings(folder: string): Setting[] {
  const file = settingsPath(folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  // What follows the last line break was being written when the process was killed: it was never acknowledged.
  return lines.slice(0, -1).map((line) => {
    try {
      return schema.parse(JSON.parse(line));
    } catch (error) {
      throw new UserError(`${file} is damaged: ${messageOf(error)}`, {
        file,
        code: "settings-damaged",
        cause: error,
        action: "Remove the line that is not JSON, then resume the run.",
      });
    }
  });
}

/** On the device before it is acknowledged: what was acknowledged must hold after a crash. */
export function keepSetting(folder: string, setting: Setting): void {
  const descriptor = openSync(settingsPath(folder), "a");
  try {
    writeSync(descriptor, `${JSON.stringify(setting)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The run's config as its author wrote it, with what was set at its start and since. `recorded`: see LoadOptions. */
export const loadWith = (
  run: RunFile,
  authored: string,
  settings: readonly Pick<Setting, "path" | "value">[],
  recorded = false,
): LoadedConfig => {
  const loaded = loadConfig(run.file, {
    text: authored,
    recorded,
    ...(recorded && { needs: needs.explained }),
    set: [...run.set, ...settings.map(assignment)],
    folder: dirname(run.file),
    ...(run.steps === undefined ? {} : { steps: run.steps }),
    ...(run.seed === undefined ? {} : { seed: run.seed }),
    trials: "none",
  });
  // A sweep is no part of its runs: one that grows changes none of them.
  return { ...loaded, tree: loaded.config?.tree ?? loaded.tree };
};

type Proposal =
  | { readonly accepted: true; readonly config: RunConfig }
  | { readonly accepted: false; readonly reason: string };

const refused = (reason: string): Proposal => ({ accepted: false, reason });

/**
 * The config with one more value, or why not: the path cannot change, the value is not allowed there, or nothing that
 * is left of the run would read it.
 * @param present index of the stage that is under way
 * @param load the config with further values
 */
export function propose(
  { path, value }: Pick<Setting, "path" | "value">,
  {
    config,
    present,
    load,
  }: {
    readonly config: RunConfig;
    readonly present: number;
    readonly load: (set: readonly Pick<Setting, "path" | "value">[]) => LoadedConfig;
  },
): Proposal {
  if (!isLive(path))
    return refused(
      `${path} cannot change while a run is live: the keys that can are ${changeable()}. Stop the run and start one with --set ${assignment({ path, value })}.`,
    );
  let loaded: LoadedConfig;
  try {
    loaded = load([{ path, value }]);
  } catch (error) {
    if (error instanceof UserError) return refused(error.message);
    throw error;
  }
  const problem = loaded.diagnostics.find(({ severity }) => severity === "error");
  if (loaded.config === undefined || problem !== undefined)
    return refused(problem?.message ?? "the config has errors with this value");
  if (left(loaded.config, present) === left(config, present))
    return refused(
      `${path} is ${JSON.stringify(value)} already, or every stage that is left has its own: write stages.<name>.${path}.`,
    );
  return { accepted: true, config: loaded.config };
}

/** What the rest of the run reads of a config that may change. */
const left = ({ stages, evaluation, checkpoint }: RunConfig, present: number): string =>
  JSON.stringify([stages.slice(present), evaluation, checkpoint], (key, part: unknown) =>
    key === "declaration" ? undefined : part,
  );
