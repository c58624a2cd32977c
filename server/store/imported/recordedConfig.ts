import { needs } from "../../config/needs.ts";
import { dirname } from "node:path";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { loadConfig } from "../../rules/load.ts";
import { readRunFile } from "../files.ts";

/** The config that a run was imported with; undefined: without one, or it can no longer be read. @param authored its text */
export function recordedConfig(runFolder: string, authored: string): RunConfig | undefined {
  const file = readRunFile(runFolder);
  if (authored === "" || file === null) return undefined;
  const options = { text: authored, set: file.set, folder: dirname(file.file), recorded: true };
  // What is wrong with its data or its model says nothing against its advantages.
  const { config, ask } = loadConfig(file.file, { ...options, needs: needs.explained });
  return config ?? ask((one) => one);
}
