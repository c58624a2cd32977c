/** Names of models and data in foreign configurations: files stay as they are written, names of a hub are told apart. */
import type { JsonObject } from "../../shared/json.ts";
import { homedir } from "node:os";
import type { Settings } from "./settings.ts";

/** `Qwen/Qwen2.5-7B`: what a hub knows, and a folder only by chance. */
const isHubName = (name: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(name);

export const fromHome = (path: string): string =>
  path.startsWith("~/") ? `${homedir()}${path.slice(1)}` : path;

/** @returns undefined where no model is named */
export function modelName(settings: Settings, key: string): string | undefined {
  const name = settings.text(key);
  if (name === undefined) return undefined;
  if (isHubName(name))
    settings.refuse(
      key,
      "Gradus reads models from the disk: name the folder that the hub's model was downloaded to",
    );
  return fromHome(name);
}

export function datasetTask(settings: Settings, key: string, name: string): JsonObject {
  const path = fromHome(name);
  if (/\.parquet$/.test(path))
    settings.refuse(key, "Gradus reads JSONL, one task a line: convert the Parquet file", name);
  else if (!/\.jsonl?$/.test(path))
    settings.refuse(key, "Gradus reads JSONL files: export the dataset and name the file", name);
  return { dataset: path };
}
