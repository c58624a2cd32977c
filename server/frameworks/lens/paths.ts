/** Names of models and data in frameworks' configurations: files stay as they are, names of a hub are recognised. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { datasetStem, hubDataset, isHubDataset, isHubName, type HubPart } from "../../lib/datasets/name.ts";
import { isRows } from "../../lib/datasets/tables.ts";
import { dataOf } from "../readers/dataFiles.ts";
import { placeOfFile } from "../readers/verlFiles.ts";
import type { Settings } from "./settings.ts";
import { relativePath, slashed } from "../../../shared/lib/slashes.ts";

const fromHome = (path: string): string => path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, slashed(homedir()));

/**
 * A path as it is written, from the configuration's folder. A command may have been started in a folder above, as in a
 * repository's root: where the file lies there, it is the path to it.
 */
export function pathFrom(configuration: string, path: string): string {
  const expanded = fromHome(path);
  if (isAbsolute(expanded) || /[$*]|:\/\//.test(expanded)) return expanded;
  const folder = dirname(resolve(configuration));
  const place = placeOfFile(resolve(configuration), expanded);
  return place === undefined || place === join(folder, expanded) ? expanded : relativePath(folder, place);
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
  const stem = (task: JsonObject): string => datasetStem(String(task["dataset"]));
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

/** `train` is what a name without a split means. */
export const otherSplit = (split: string | undefined): string | undefined =>
  split === "train" ? undefined : split;

/**
 * The data that a setting names, as a config names them: what lies on this machine, or where nothing does and it may be a
 * dataset of the Hub, that.
 * @param part of a dataset of the Hub: a configuration and a split
 */
export function dataNamed(settings: Settings, key: string, name: string, part?: HubPart): string {
  const path = pathFrom(settings.file, name);
  const place = placeOfFile(resolve(settings.file), path);
  if (part !== undefined && place === undefined && isHubName(name) && !isRows(name))
    return hubDataset(name, part);
  const data = dataOf(settings.file, path);
  const isFolder = place !== undefined && statSync(place).isDirectory();
  if (!isFolder && !isRows(data) && !isHubDataset(data))
    settings.refuse(
      key,
      "Gradus reads JSONL, Parquet and Arrow files, and folders of them: export the dataset and name the file",
      name,
    );
  return data;
}
