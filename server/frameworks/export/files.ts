/** Files of a project that several engines have. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { taskTexts } from "../../algorithm/curriculum/taskTexts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { openBase, writeInitialModel } from "../../engine/index.ts";
import { isHubName } from "../../lib/datasets/name.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";

export const shipped = (name: string): string => readFileSync(hostFile(name, undefined), "utf8");

export function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export interface ModelPlace {
  /** As transformers is given it, from the project. */
  readonly path: string;
  /** Whether the project has it, in `model/`. */
  readonly written: boolean;
}

/** What is no folder that transformers opens is written as one: a new model, a checkpoint of ours, a .gguf file. */
export function modelOf({ model: { base } }: RunConfig): ModelPlace {
  if (isHubName(base) || base.startsWith("${env:")) return { path: base, written: false };
  const written = base === "tiny" || openBase(base).kind !== "huggingface";
  return { path: written ? "model" : base, written };
}

/** The model that the project has, if it has one. */
export function writeModel(folder: string, { written }: ModelPlace, config: RunConfig): void {
  if (!written) return;
  const { model, seed } = config;
  writeInitialModel(folder, { model, seed, texts: () => taskTexts(config) });
}

/** To PyYAML a number with an exponent is one only with a point. */
export const forPython = (yaml: string): string => yaml.replace(/(: |- )(-?\d+)e([+-]?\d+)$/gm, "$1$2.0e$3");
