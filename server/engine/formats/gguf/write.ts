/** A model as one GGUF file: matrices in 16 bits, vectors in 32, with its tokenizer and chat template. */
import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf, UserError } from "../../../../shared/lib/errors.ts";
import type { PolicyTokenizer } from "../../tokenizers/types.ts";
import type { Shape } from "../../transformer/weights.ts";
import type { Weights } from "../model.ts";
import { writeFile, type Typed, type WrittenTensor } from "./file.ts";
import { readHeader } from "./header.ts";
import { placesOf, takeFrom } from "./places.ts";
import { shapeOf, type Architecture } from "./shape.ts";
import { stretchFactors } from "./stretch.ts";
import { tokenizerMetadata } from "./writeTokenizer.ts";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";

export interface GgufModel {
  readonly shape: Shape;
  readonly weights: Weights;
  readonly tokenizer: PolicyTokenizer;
  /** `general.name`. */
  readonly name: string;
}

/** Mistral's files say llama, and that their window is there. */
const architectureOf = ({ style }: Shape): Architecture =>
  style.family === "mistral" ? "llama" : style.family;

function sizes(shape: Shape): Map<string, Typed> {
  const architecture = architectureOf(shape);
  const metadata = new Map<string, Typed>();
  const whole = (key: string, value: number): void =>
    void metadata.set(`${architecture}.${key}`, { type: "u32", value });
  const real = (key: string, value: number): void =>
    void metadata.set(`${architecture}.${key}`, { type: "f32", value });
  whole("block_count", shape.layers);
  whole("context_length", shape.context);
  whole("embedding_length", shape.width);
  whole("feed_forward_length", shape.hidden);
  whole("attention.head_count", shape.heads);
  whole("attention.head_count_kv", shape.kv_heads);
  whole("vocab_size", shape.vocabulary);
  real(`attention.layer_norm_${shape.style.norm === "rms" ? "rms_" : ""}epsilon`, shape.epsilon);
  if (shape.style.positions === "learned") return metadata;
  whole("rope.dimension_count", shape.head_width);
  whole("attention.key_length", shape.head_width);
  whole("attention.value_length", shape.head_width);
  real("rope.freq_base", shape.rope_theta);
  const { rope_scaling, window } = shape.style;
  if (rope_scaling?.type === "linear") {
    metadata.set(`${architecture}.rope.scaling.type`, { type: "text", value: "linear" });
    real("rope.scaling.factor", rope_scaling.factor);
  }
  if (window !== null) {
    whole("attention.sliding_window", window.tokens);
    if (architecture === "gemma3") real("rope.freq_base_swa", window.rope_theta);
  }
  return metadata;
}

function tensorsOf(shape: Shape, weights: Weights): WrittenTensor[] {
  const tensors = placesOf(shape).map((place): WrittenTensor => {
    const values = weights[place.weight];
    if (values === undefined) throw new Error(`no weight ${place.weight}`);
    return {
      name: place.tensor,
      extents: place.extents,
      type: place.kind === "vector" ? "F32" : "F16",
      values: () => takeFrom(place, values),
    };
  });
  const { rope_scaling } = shape.style;
  if (rope_scaling?.type !== "llama3") return tensors;
  const factors = stretchFactors(rope_scaling, shape.rope_theta, shape.head_width);
  return [
    { name: "rope_freqs.weight", extents: [factors.length], type: "F32", values: () => factors },
    ...tensors,
  ];
}

/**
 * Writes the file next to its place and renames it: a file of that name is whole.
 *
 * @throws UserError where GGUF has no form for the tokenizer or for something of the architecture, and where the file
 * cannot be written.
 */
export function writeGguf(file: string, { shape, weights, tokenizer, name }: GgufModel): void {
  const metadata = new Map<string, Typed>([
    ["general.architecture", { type: "text", value: architectureOf(shape) }],
    ["general.type", { type: "text", value: "model" }],
    ["general.name", { type: "text", value: name }],
    ["general.file_type", { type: "u32", value: 1 }],
    ["general.quantization_version", { type: "u32", value: 2 }],
    ...sizes(shape),
    ...tokenizerMetadata(tokenizer, shape.vocabulary),
  ]);
  const part = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  try {
    writeFile(part, metadata, tensorsOf(shape, weights));
    checkKept(part, shape);
    putInPlace(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof UserError) throw error;
    throw new UserError(`${file} could not be written: ${messageOf(error)}.`, {
      file,
      code: "gguf-write",
      action: "Free some space or check the folder's rights.",
      cause: error,
    });
  }
}

/** Everything that an architecture may vary and GGUF has no key for would be lost without a word. */
function checkKept(file: string, shape: Shape): void {
  const kept = shapeOf(readHeader(file));
  const lost = differences(shape, kept);
  if (lost.length === 0) return;
  throw new UserError(`GGUF cannot hold this model's ${lost.join(", ")}.`, {
    file,
    code: "gguf-shape",
    action: "Export to a Hugging Face folder instead (--to hf).",
  });
}
function differences(shape: Shape, kept: Shape): string[] {
  const flat = ({ style, ...size }: Shape): [string, unknown][] => [
    ...Object.entries(size),
    ...Object.entries(style),
  ];
  const other = new Map(flat(kept));
  // A Mistral without a window is a Llama, and learned positions have no frequencies.
  const silent = new Set(["family", ...(shape.style.positions === "learned" ? ["rope_theta"] : [])]);
  return flat(shape).flatMap(([key, value]) => (silent.has(key) || same(value, other.get(key)) ? [] : [key]));
}
/** Numbers pass through 32 bits. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.fround(a) === Math.fround(b);
  return isDeepStrictEqual(a, b);
}
