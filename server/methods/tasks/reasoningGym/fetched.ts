/** Tasks that reasoning-gym makes, fetched when one is first drawn: all that a value has, in one run of Python. */
import { spawnSync } from "node:child_process";
import { join, parse } from "node:path";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { interpreterFor, missingPackage } from "../../../lib/own/interpreter.ts";
import { isWithheld } from "../../../lib/own/withheld.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import { pythonEnvironment } from "../../../lib/own/pythonEnvironment.ts";

/** What tasks are made from, apart from their number. */
export interface GymValue {
  readonly dataset: string;
  /** Of the dataset's curriculum; null: its configuration as it is. */
  readonly level: number | null;
  readonly config: JsonObject;
  /** Levels of single attributes. */
  readonly attributes: Readonly<Record<string, number>>;
}

export interface GymTask {
  readonly index: number;
  readonly question: string;
  readonly answer: string | null;
}

export interface Gym {
  readonly python: string | undefined;
  readonly folder: string;
  readonly seed: number;
  /** Tasks of each value. */
  readonly size: number;
}

const line = z.union([
  z.object({
    tasks: z.array(z.object({ index: z.number(), question: z.string(), answer: z.string().nullable() })),
  }),
  z.object({ error: z.string(), absent: z.boolean() }),
]);

/** Milliseconds for all tasks of a config's datasets. */
const patience = 600_000;

/** By Python and value: a run opens its sources several times. */
const known = new Map<string, readonly GymTask[]>();

const gymFile = (): string => hostFile("reasoningGym.py", process.env["GRADUS_REASONING_GYM"]);

/** The interpreter that has the package. */
const gymPython = ({ python, folder }: Pick<Gym, "python" | "folder">): string =>
  interpreterFor({
    named: python,
    folder,
    file: join(folder, "reasoning_gym"),
    owner: { what: "task", code: "task-python" },
  }).path;

/** All tasks of these values, in their order. @throws UserError where the package is missing, or refuses a value */
export function gymTasks(gym: Gym, values: readonly GymValue[]): readonly (readonly GymTask[])[] {
  const python = gymPython(gym);
  const keyOf = (value: GymValue): string => JSON.stringify([python, gym.seed, gym.size, value]);
  const missing = values.filter((value) => !known.has(keyOf(value)));
  if (missing.length > 0)
    for (const [at, tasks] of made(python, gym, missing).entries()) known.set(keyOf(missing[at]!), tasks);
  return values.map((value) => known.get(keyOf(value))!);
}

function made(
  python: string,
  { seed, size, folder }: Gym,
  values: readonly GymValue[],
): (readonly GymTask[])[] {
  const { stdout, stderr, error, signal } = spawnSync(python, [gymFile()], {
    input: JSON.stringify({ values, seed, size }),
    encoding: "utf8",
    windowsHide: true,
    timeout: patience,
    maxBuffer: 2 ** 30,
    // With a relative PYTHONPATH, modules of the current folder are imported.
    ...(isWithheld() && { cwd: parse(folder).root }),
    // What a dataset draws from a set is the same in every process.
    env: { ...pythonEnvironment(), PYTHONHASHSEED: "0" },
  });
  const lines = (stdout ?? "").split("\n").filter((text) => text.startsWith("{"));
  const read = lines.map((text) => line.parse(JSON.parse(text)));
  const failed = read.find((one) => "error" in one);
  if (failed !== undefined)
    throw failed.absent ? missingPackage("reasoning-gym", python) : refused(failed.error);
  const tasks = read.flatMap((one) => ("tasks" in one ? [one.tasks] : []));
  if (tasks.length === values.length) return tasks;
  const last = stderr?.trim().split("\n").at(-1);
  throw refused(error?.message ?? (signal === null ? (last ?? "it wrote no tasks") : `ended by ${signal}`));
}

const refused = (message: string): UserError =>
  new UserError(`reasoning-gym: ${message}`, {
    code: "reasoning-gym",
    action: "Correct `datasets`, `levels`, `config` or `attributes` of the task.",
  });
