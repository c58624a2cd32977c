/**
 * Hugging Face folders: `config.json`, `model.safetensors` (or several files with an index) and the tokenizer's files,
 * as transformers reads and writes them.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, readFailure, UserError } from "../../../shared/lib/errors.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { take } from "../../core/ops.ts";
import { SafetensorsFile, writeSafetensors } from "../weights/safetensors.ts";
import { Scratch, type Room } from "../devices/scratch.ts";
import type { PolicyTokenizer } from "../tokenizers/types.ts";
import { readTokenizer, writeTokenizer } from "../tokenizers/index.ts";
import { weightShapes, type Shape } from "../transformer/weights.ts";
import { fromTensors, toPublic } from "./huggingFace/layout.ts";
import { readConfig } from "./huggingFace/readConfig.ts";
import { isIgnored, modelPrefix, publicTensors, type PublicTensor } from "./huggingFace/tensors.ts";
import { configOf } from "./huggingFace/writeConfig.ts";
import type { ModelHead, WeightReader, Weights } from "./model.ts";
import { otherWeights } from "./otherWeights.ts";

/** @throws UserError naming the file, and the key that is missing or asks for what this engine does not compute. */
export function readHuggingFaceHead(path: string): ModelHead {
  const shape = readConfig(join(path, "config.json"));
  return { kind: "huggingface", path, shape, tokenizer: readTokenizer(path) };
}

/** Which file of the folder holds each tensor. */
function filesOf(folder: string): string[] {
  const whole = join(folder, "model.safetensors");
  const index = join(folder, "model.safetensors.index.json");
  if (existsSync(whole)) return [whole];
  if (!existsSync(index)) {
    const other = otherWeights(folder);
    throw new UserError(
      `${folder} has neither model.safetensors nor model.safetensors.index.json${other === undefined ? "" : `: ${other.words}`}.`,
      {
        file: folder,
        code: "model-weights",
        action: other?.action ?? "Name a folder that holds the model's weights as safetensors.",
      },
    );
  }
  try {
    const json: unknown = JSON.parse(readText(index, limits.modelJson));
    const { weight_map } = z.object({ weight_map: z.record(z.string(), z.string()) }).parse(json);
    return [...new Set(Object.values(weight_map))].map((name) => join(folder, name));
  } catch (error) {
    const reason = error instanceof z.ZodError ? "it has no weight_map of names" : readFailure(error);
    throw new UserError(`${index} cannot be read: ${reason}.`, {
      file: index,
      code: "model-weights",
      action: "Download the model's files again.",
      cause: error,
    });
  }
}

/** The error of a tensor that is missing or has other extents. */
const tensorProblem = (file: string, tensor: PublicTensor, found: readonly number[] | undefined): UserError =>
  new UserError(
    `${file}: ${tensor.name} should have the extents [${tensor.extents.join(", ")}] but ${found === undefined ? "is missing" : `has [${found.join(", ")}]`}.`,
    {
      file,
      code: "checkpoint-tensor",
      action: "Use another checkpoint: the weights do not belong to this config.json.",
    },
  );

const tooManyLayers = (folder: string, layers: number, tensors: number): UserError =>
  new UserError(
    `${join(folder, "config.json")} says ${layers} layers, and the weights have ${tensors} tensors.`,
    {
      file: folder,
      code: "checkpoint-tensor",
      action: "Use another checkpoint: the weights do not belong to this config.json.",
    },
  );

function checkExtra(folder: string, shape: Shape, names: Iterable<string>): void {
  const extra = [...names].filter((name) => !isIgnored(shape, name));
  if (extra.length === 0) return;
  const some = extra.slice(0, 5).join(", ");
  throw new UserError(
    `${folder} holds ${extra.length === 1 ? "a tensor" : `${extra.length} tensors`} that its config.json does not mention: ${some}${extra.length > 5 ? ", …" : ""}.`,
    {
      file: folder,
      code: "checkpoint-tensor",
      action:
        "Use a plain causal language model: this engine does not read other heads, adapters or quantised weights.",
    },
  );
}

/** The folder's safetensors, open. */
class FolderWeights implements WeightReader {
  private readonly files: SafetensorsFile[] = [];
  private readonly scratch = new Scratch();
  private readonly holder = new Map<string, SafetensorsFile>();
  private readonly tensors: ReturnType<typeof publicTensors>;
  private readonly extents: ReturnType<typeof weightShapes>;

  constructor(
    private readonly folder: string,
    private readonly shape: Shape,
  ) {
    try {
      for (const name of filesOf(folder)) this.files.push(new SafetensorsFile(name));
      for (const file of this.files) for (const name of file.names) this.holder.set(name, file);
      // Names of a million layers would be made before the first is missed.
      if (shape.layers > this.holder.size) throw tooManyLayers(folder, shape.layers, this.holder.size);
      this.tensors = publicTensors(shape);
      this.extents = weightShapes(shape);
      const left = new Set(this.holder.keys());
      for (const tensor of Object.values(this.tensors).flat()) left.delete(this.find(tensor).name);
      checkExtra(folder, shape, left);
    } catch (error) {
      this.close();
      throw error;
    }
  }
  /** Files of the bare model lack the first word of every name. */
  private find(tensor: PublicTensor): { readonly file: SafetensorsFile; readonly name: string } {
    const prefix = modelPrefix(this.shape);
    const bare = tensor.name.startsWith(prefix) ? tensor.name.slice(prefix.length) : tensor.name;
    const name = this.holder.has(tensor.name) ? tensor.name : bare;
    const file = this.holder.get(name);
    const found = file?.shapeOf(name);
    if (file === undefined || found?.join() !== tensor.extents.join())
      throw tensorProblem(file?.file ?? this.folder, tensor, found);
    return { file, name };
  }
  /** By the headers alone: that each tensor is of a type that is read. @throws UserError naming one that is not */
  check(): void {
    for (const tensor of Object.values(this.tensors).flat()) {
      const { file, name } = this.find(tensor);
      file.check(name);
    }
  }
  read(weight: string, room?: Room): Float32Array {
    const [extents, tensors] = [take(this.extents, weight), take(this.tensors, weight)];
    const read = (tensor: PublicTensor, own: Room = this.scratch.floats): Float32Array => {
      const { file, name } = this.find(tensor);
      return file.read(name, own).data;
    };
    return fromTensors(this.shape, extents, tensors, read, room);
  }
  close(): void {
    for (const file of this.files) file.close();
  }
}

/**
 * Values of every weight in our layout. Files of the bare model, whose names lack the first word, are read, too.
 *
 * @throws UserError naming the file and the tensor that is missing, too much, or has other extents; the reader throws
 * where one is of another type or cut short.
 */
export const openHuggingFaceWeights = (folder: string, shape: Shape): WeightReader =>
  new FolderWeights(folder, shape);

/** That the weights are there and can be read, by their headers alone. @throws UserError as reading them would */
export function checkHuggingFaceWeights(folder: string, shape: Shape): void {
  const weights = new FolderWeights(folder, shape);
  try {
    weights.check();
  } finally {
    weights.close();
  }
}

const writeJson = (file: string, value: unknown): void => {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
};

/**
 * Weights, config and tokenizer into a folder, which is made where it does not exist; `more` are keys for `config.json`.
 *
 * @throws UserError where a file cannot be written.
 */
export function writeHuggingFace(
  folder: string,
  model: {
    readonly shape: Shape;
    readonly weights: Weights;
    readonly tokenizer: PolicyTokenizer;
    readonly more?: Readonly<Record<string, unknown>>;
  },
): void {
  const { shape, weights, tokenizer, more = {} } = model;
  try {
    mkdirSync(folder, { recursive: true });
    writeSafetensors(join(folder, "model.safetensors"), toPublic(shape, weights), { format: "pt" });
    writeJson(join(folder, "config.json"), { ...configOf(shape, tokenizer), ...more });
    writeTokenizer(folder, tokenizer);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`The model could not be written to ${folder}: ${messageOf(error)}.`, {
      file: folder,
      code: "model-write",
      action: "Free some space or check the folder's rights.",
      cause: error,
    });
  }
}
