/** Models that a run can begin with: a checkpoint of ours, a Hugging Face folder, or a GGUF file. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { mergedWeight, type Adapter } from "../transformer/lowRank.ts";
import type { Shape } from "../transformer/weights.ts";
import { fingerprint } from "./fingerprint.ts";
import { checkGgufWeights, openGgufWeights, readGgufHead, readGgufShape } from "./gguf/index.ts";
import { checkHuggingFaceWeights, openHuggingFaceWeights, readHuggingFaceHead } from "./huggingFace.ts";
import { readConfig } from "./huggingFace/readConfig.ts";
import { readEvery, type ModelHead, type WeightReader, type Weights } from "./model.ts";
import { refuseOtherWeights } from "./otherWeights.ts";
import { isPeft, readPeft } from "./peft.ts";
import { fromAnySystem } from "../../../shared/lib/slashes.ts";

export type { ModelHead, OpenWeights, WeightReader, Weights } from "./model.ts";
export { writeHuggingFace } from "./huggingFace.ts";
export { isPeft, readPeft, writePeft } from "./peft.ts";
export { refuseOtherWeights } from "./otherWeights.ts";

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

/** Where a path's model lies: in one .gguf file, or in a folder with a config.json. */
interface ModelPath {
  readonly kind: "gguf" | "folder";
  readonly path: string;
}

/** @throws UserError where nothing is there, or nothing that can be opened */
function placeOf(path: string): ModelPath {
  if (!existsSync(path)) {
    throw new UserError(`model.base names ${path}, which does not exist.`, {
      file: path,
      code: "model-missing",
      action: "Correct the path, or use base: tiny.",
    });
  }
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory())
    throw unopenable(path, "neither a file nor a folder but a pipe, a socket or a device");
  if (stats.isFile()) {
    if (path.endsWith(".gguf")) return { kind: "gguf", path };
    refuseOtherWeights(path);
    throw unopenable(path, "a file that is not named .gguf");
  }
  if (!existsSync(join(path, "config.json"))) {
    // A run's checkpoint holds the policy next to what goes on with it.
    const policy = join(path, "policy");
    if (existsSync(join(policy, "config.json"))) return placeOf(policy);
    throw unopenable(path, "a folder without a config.json");
  }
  return { kind: "folder", path };
}

/**
 * What kind of model a path holds, its size and its tokenizer, without the weights.
 *
 * @throws UserError where nothing is there, or nothing that can be opened; it names the file and what is wrong.
 */
export function openBase(base: string): ModelHead {
  const { kind, path } = placeOf(base);
  if (kind === "gguf") return readGgufHead(path);
  const head = readHuggingFaceHead(path);
  return isCheckpoint(path) ? { ...head, kind: "checkpoint" } : head;
}

/** The size of a path's model, without its tokenizer. @throws UserError as `openBase` does */
export function readShape(base: string): Shape {
  const { kind, path } = placeOf(base);
  return kind === "gguf" ? readGgufShape(path) : readConfig(join(path, "config.json"));
}

/**
 * Everything of a model that can be known without its weights: config, tokenizer, and the headers of the files that hold
 * the weights. Whether the base of an adapter has changed since is known only by its weights.
 *
 * @throws UserError as opening the model and reading its weights would
 */
export function examineBase(base: string): ModelHead {
  const head = openBase(base);
  examineWeights(head);
  return head;
}

function examineWeights(head: ModelHead): void {
  const base = adapterBase(head);
  if (base !== undefined) examineWeights({ ...openBase(base.path), shape: head.shape });
  else if (head.kind === "gguf") checkGgufWeights(head.path, head.shape);
  else checkHuggingFaceWeights(head.path, head.shape);
}
const unopenable = (path: string, what: string): UserError =>
  new UserError(`${path} is not a model: it is ${what}.`, {
    file: path,
    code: "model-unsupported",
    action: "Name a checkpoint, a Hugging Face folder with config.json and safetensors, or a .gguf file.",
  });

const baseSchema = z.looseObject({
  gradus: z.object({
    base: z.object({ path: z.string(), relative: z.string().optional(), sha256: z.string() }),
  }),
});
/** Where the base of an adapter's checkpoint lies; undefined for a model without one. */
export function adapterBase({ kind, path: folder }: Pick<ModelHead, "kind" | "path">):
  | {
      readonly path: string;
      readonly sha256: string;
      /** The error of a base that is not what it was. */
      readonly problem: (what: string) => UserError;
    }
  | undefined {
  if (kind !== "checkpoint" || !isPeft(folder)) return undefined;
  const file = join(folder, "config.json");
  const config: unknown = JSON.parse(readText(file, limits.modelJson));
  const parsed = baseSchema.safeParse(config).data?.gradus.base;
  const problem = (what: string): UserError =>
    new UserError(`The adapter ${folder} is for ${parsed?.path ?? "a model"}, which ${what}.`, {
      file,
      code: "adapter-base",
      action: "Put the base model back where it was, or export the adapter merged before it is moved.",
    });
  if (parsed === undefined) throw problem("its config.json does not name");
  const path = [parsed.path, fromAnySystem(parsed.relative ?? parsed.path)]
    .map((one) => resolve(folder, one))
    .find((one) => existsSync(one));
  if (path === undefined) throw problem("no longer exists");
  return { path, sha256: parsed.sha256, problem };
}

/**
 * The base model of an adapter's checkpoint; undefined for one without.
 *
 * @throws UserError where the base is gone or has changed
 */
export function baseOf(head: ModelHead): ModelHead | undefined {
  const base = adapterBase(head);
  if (base === undefined) return undefined;
  if (fingerprint(base.path) !== base.sha256) throw base.problem("has changed since");
  return { ...openBase(base.path), shape: head.shape };
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
