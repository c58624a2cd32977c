/** Models that a run can begin with: a checkpoint of ours, a Hugging Face folder, or a GGUF file. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readFailure, UserError } from "../../../shared/errors.ts";
import { readGgufHead, readGgufWeights } from "./gguf/index.ts";
import { readHuggingFaceHead, readHuggingFaceWeights } from "./huggingFace.ts";
import type { ModelHead } from "./model.ts";

export type { ModelHead, Weights } from "./model.ts";
export { writeHuggingFace } from "./huggingFace.ts";

/** Whether a folder's config.json says that gradus wrote it. @throws UserError where it is not JSON */
export function isCheckpoint(folder: string): boolean {
  const file = join(folder, "config.json");
  if (!existsSync(file)) return false;
  try {
    const config: unknown = JSON.parse(readFileSync(file, "utf8"));
    return z.looseObject({ gradus: z.unknown() }).safeParse(config).data?.gradus !== undefined;
  } catch (error) {
    throw new UserError(`${file} is not JSON: ${readFailure(error)}.`, {
      file,
      code: "checkpoint-config",
      action: "Name another checkpoint folder.",
      cause: error,
    });
  }
}

/**
 * What kind of model a path holds, its size and its tokenizer, without the weights.
 *
 * @throws UserError where nothing is there, or nothing that can be opened; it names the file and what is wrong.
 */
export function openBase(path: string): ModelHead {
  if (!existsSync(path)) {
    throw new UserError(`model.base names ${path}, which does not exist.`, {
      file: path,
      code: "model-missing",
      action: "Correct the path, or use base: tiny.",
    });
  }
  if (statSync(path).isFile()) {
    if (path.endsWith(".gguf")) return readGgufHead(path);
    throw unopenable(path, "a file that is not named .gguf");
  }
  if (!existsSync(join(path, "config.json"))) throw unopenable(path, "a folder without a config.json");
  const head = readHuggingFaceHead(path);
  return isCheckpoint(path) ? { ...head, kind: "checkpoint" } : head;
}
const unopenable = (path: string, what: string): UserError =>
  new UserError(`model.base ${path} is ${what}.`, {
    file: path,
    code: "model-unsupported",
    action: "Name a checkpoint, a Hugging Face folder with config.json and safetensors, or a .gguf file.",
  });

/** Values of every weight. @throws UserError as the format's reader does */
export const readWeights = ({ kind, path, shape }: ModelHead): Record<string, Float32Array> =>
  kind === "gguf" ? readGgufWeights(path, shape) : readHuggingFaceWeights(path, shape);
