/** Files of a project that several engines have. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Document } from "yaml";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { taskTexts } from "../../algorithm/curriculum/taskTexts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { openBase, writeInitialModel } from "../../engine/index.ts";
import { isHubName } from "../../lib/datasets/name.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";
import type { ExportRequest } from "./exporter.ts";

export const shipped = (name: string): string => readFileSync(hostFile(name, undefined), "utf8");

/** launch.sh, with the command and the Python that it uses where the environment names none. */
export const launchText = (name: string, { launch, python }: ExportRequest): string =>
  shipped(name)
    .replace("LAUNCH}", `${launch ?? ""}}`)
    .replace("PYTHON}", `${python}}`);

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
const forPython = (yaml: string): string => yaml.replace(/(: |- )(-?\d+)e([+-]?\d+)$/gm, "$1$2.0e$3");

/** Settings as config.yaml, which PyYAML reads. @param comment stands above them */
export function settingsYaml(settings: JsonObject, comment: string): string {
  const document = new Document(settings);
  document.commentBefore = ` ${comment}`;
  return forPython(document.toString({ lineWidth: 0, flowCollectionPadding: true }));
}
