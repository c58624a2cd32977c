/** Names of models and data in frameworks' configurations: files stay as they are, names of a hub are recognised. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname } from "node:path";
import type { Settings } from "./settings.ts";

/** `Qwen/Qwen2.5-7B`: a hub's name, and a folder only by chance. */
const isHubName = (name: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(name);

export const fromHome = (path: string): string =>
  path.startsWith("~/") ? `${homedir()}${path.slice(1)}` : path;

/** @returns undefined where no model is named */
export function modelName(settings: Settings, key: string): string | undefined {
  const name = settings.text(key);
  if (name === undefined) return undefined;
  if (isHubName(name) && !existsSync(name))
    settings.refuse(
      key,
      "Gradus reads models from the disk: if this is a hub's name, write the folder it was downloaded to",
    );
  return fromHome(name);
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

export function datasetTask(settings: Settings, key: string, name: string): JsonObject {
  const path = fromHome(name);
  if (!/\.(jsonl?|parquet)$/.test(path))
    settings.refuse(key, "Gradus reads JSONL and Parquet files: export the dataset and name the file", name);
  return { dataset: path };
}
