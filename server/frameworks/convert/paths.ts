/** Names of models and data in frameworks' configurations: files stay as they are, names of a hub are recognised. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { filesOf } from "../project/dataFiles.ts";
import { placeOfFile } from "../verl/files.ts";
import type { Settings } from "./settings.ts";

/** `Qwen/Qwen2.5-7B`: a hub's name, and a folder only by chance. */
const isHubName = (name: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(name);

const fromHome = (path: string): string => path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, homedir());

/**
 * A path as it is written, from the configuration's folder. A command may have been started in a folder above, as in a
 * repository's root: where the file lies there, it is the path to it.
 */
export function pathFrom(configuration: string, path: string): string {
  const expanded = fromHome(path);
  if (isAbsolute(expanded) || /[$*]|:\/\//.test(expanded)) return expanded;
  const folder = dirname(resolve(configuration));
  const place = placeOfFile(resolve(configuration), expanded);
  return place === undefined || place === join(folder, expanded)
    ? expanded
    : relative(folder, place).replaceAll(sep, "/");
}

/** A function of a Python file, as a reward term names it. */
export function pythonUse(configuration: string, path: string, name: string): string {
  const file = pathFrom(configuration, path);
  return `${/^[./~$]/.test(file) || isAbsolute(file) ? file : `./${file}`}:${name}`;
}

/** @returns undefined where no model is named */
export function modelName(settings: Settings, key: string): string | undefined {
  const name = settings.text(key);
  if (name === undefined) return undefined;
  if (isHubName(name) && placeOfFile(resolve(settings.file), name) === undefined)
    settings.refuse(
      key,
      "Gradus reads models from the disk: if this is a hub's name, write the folder it was downloaded to",
    );
  return pathFrom(settings.file, name);
}

/** Gradus' own model replaces a missing one: its context must hold what the configuration generates. */
export const stoodIn = (prompt: number, response: number): JsonObject => ({
  base: "tiny",
  context: prompt + response,
});

/** Tasks are named by their file's stem; files with the same stem are distinguished by their folders. */
export function named(tasks: readonly JsonObject[]): JsonObject[] {
  const stem = (task: JsonObject): string => basename(String(task["dataset"])).replace(/\.\w+$/, "");
  const taken = new Set<string>();
  return tasks.map((task) => {
    const path = String(task["dataset"]);
    const alone = tasks.filter((other) => stem(other) === stem(task)).length === 1;
    const wish = alone ? stem(task) : basename(dirname(path)) || stem(task);
    let name = wish;
    for (let n = 2; taken.has(name); n++) name = `${wish}-${n}`;
    taken.add(name);
    return alone ? task : { name, ...task };
  });
}

/** The files of what a setting names: a folder on this machine is its files of rows. */
export const dataFiles = (settings: Settings, key: string, name: string): string[] =>
  filesOf(settings.file, pathFrom(settings.file, name)).map((path) => {
    if (!/\.(jsonl?|parquet)$/.test(path))
      settings.refuse(
        key,
        "Gradus reads JSONL and Parquet files: export the dataset and name the file",
        name,
      );
    return path;
  });
