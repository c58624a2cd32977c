/** Models that a run can begin with: a checkpoint of ours, a Hugging Face folder, or a GGUF file. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readFailure, UserError } from "../../../shared/errors.ts";
import { limits, readText } from "../../inputFile.ts";
import { mergedWeight, type Adapter } from "../transformer/lowRank.ts";
import type { Shape } from "../transformer/weights.ts";
import { fingerprint } from "./fingerprint.ts";
import { openGgufWeights, readGgufHead } from "./gguf/index.ts";
import { openHuggingFaceWeights, readHuggingFaceHead } from "./huggingFace.ts";
import { readEvery, type ModelHead, type WeightReader, type Weights } from "./model.ts";
import { isPeft, readPeft } from "./peft.ts";

export type { ModelHead, OpenWeights, WeightReader, Weights } from "./model.ts";
export { writeHuggingFace } from "./huggingFace.ts";
export { isPeft, readPeft, writePeft } from "./peft.ts";

/** Whether a folder's config.json says that gradus wrote it. @throws UserError where it is not JSON */
function isCheckpoint(folder: string): boolean {
  const file = join(folder, "config.json");
  if (!existsSync(file)) return false;
  try {
    const config: unknown = JSON.parse(readText(file, limits.modelJson));
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
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory())
    throw unopenable(path, "neither a file nor a folder: a pipe, a socket or a device");
  if (stats.isFile()) {
    if (path.endsWith(".gguf")) return readGgufHead(path);
    throw unopenable(path, "a file that is not named .gguf");
  }
  if (!existsSync(join(path, "config.json"))) {
    // A run's checkpoint holds the policy beside what goes on with it.
    const policy = join(path, "policy");
    if (existsSync(join(policy, "config.json"))) return openBase(policy);
    throw unopenable(path, "a folder without a config.json");
  }
  const head = readHuggingFaceHead(path);
  return isCheckpoint(path) ? { ...head, kind: "checkpoint" } : head;
}
const unopenable = (path: string, what: string): UserError =>
  new UserError(`model.base ${path} is ${what}.`, {
    file: path,
    code: "model-unsupported",
    action: "Name a checkpoint, a Hugging Face folder with config.json and safetensors, or a .gguf file.",
  });

const baseSchema = z.looseObject({
  gradus: z.object({
    base: z.object({ path: z.string(), relative: z.string().optional(), sha256: z.string() }),
  }),
});
/**
 * The model that an adapter's checkpoint stands on; undefined for one that stands alone.
 *
 * @throws UserError where the base is gone or has changed
 */
export function baseOf({ kind, path: folder, shape }: ModelHead): ModelHead | undefined {
  if (kind !== "checkpoint" || !isPeft(folder)) return undefined;
  const file = join(folder, "config.json");
  const config: unknown = JSON.parse(readText(file, limits.modelJson));
  const parsed = baseSchema.safeParse(config).data?.gradus.base;
  const problem = (what: string): UserError =>
    new UserError(`The adapter ${folder} stands on ${parsed?.path ?? "a model"}, which ${what}.`, {
      file,
      code: "adapter-base",
      action: "Put the base model back where it was, or export the adapter merged before it is moved.",
    });
  if (parsed === undefined) throw problem("its config.json does not name");
  const path = [parsed.path, parsed.relative ?? parsed.path]
    .map((one) => resolve(folder, one))
    .find((one) => existsSync(one));
  if (path === undefined) throw problem("is not there any more");
  if (fingerprint(path) !== parsed.sha256) throw problem("has changed since");
  return { ...openBase(path), shape };
}

/** Every weight, read when it is asked for, adapters merged. @throws UserError as the format's reader does */
export function openWeights(head: ModelHead): WeightReader {
  const { kind, path, shape } = head;
  const base = baseOf(head);
  if (base === undefined)
    return kind === "gguf" ? openGgufWeights(path, shape) : openHuggingFaceWeights(path, shape);
  const { adapter, weights } = readPeft(path, shape);
  return mergedReader(openWeights(base), shape, adapter, weights);
}
/** A reader of a base and an adapter as one. */
export const mergedReader = (
  base: WeightReader,
  shape: Shape,
  adapter: Adapter,
  adapters: Weights,
): WeightReader => ({
  read: (name, room) => mergedWeight(shape, adapter, name, base.read(name, room), adapters),
  close: () => base.close(),
});
/** All of them at once. */
export const readWeights = (head: ModelHead): Record<string, Float32Array> =>
  readEvery(head.shape, () => openWeights(head));
