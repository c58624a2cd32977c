/** From GGUF metadata to the size and the style of a decoder. */
import { llamaStyle, type Shape, type Style } from "../../transformer/weights.ts";
import { ggufError, type Header } from "./header.ts";
import { Reading } from "./metadata.ts";
import { unpacked } from "./blocks.ts";
import { tensorBytes } from "./tensors.ts";
import { stretchOf } from "./stretch.ts";

const architectures = ["llama", "qwen2", "qwen3", "gemma3", "gpt2"] as const;
export type Architecture = (typeof architectures)[number];
const isArchitecture = (name: string): name is Architecture => architectures.some((known) => known === name);

/** Every sixth layer of Gemma 3 sees the whole context. */
const GEMMA_PERIOD = 6;
/** Gemma 3 with 27 B parameters scales queries by width / heads, the smaller ones by their head's width. */
const LARGEST_GEMMA_LAYERS = 62;

/** @throws UserError naming the architecture or the key that is not understood. */
export function shapeOf(header: Header): Shape {
  const reading = new Reading(header);
  const name = reading.text("general.architecture");
  if (!isArchitecture(name))
    throw ggufError(
      header.file,
      `its architecture is ${name}, which this engine does not compute`,
      `Use a model of one of ${architectures.join(", ")} (Mistral's files say llama).`,
    );
  const of = (key: string): number => reading.number(`${name}.${key}`);
  const [width, layers, heads] = [of("embedding_length"), of("block_count"), of("attention.head_count")];
  if (!(layers <= header.tensors.size))
    throw ggufError(header.file, `it claims ${layers} layers, but has ${header.tensors.size} tensors`);
  const head_width = headWidthOf(header, reading, name) ?? width / heads;
  const epsilon = of(name === "gpt2" ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon");
  const size = {
    vocabulary: vocabularyOf(header),
    width,
    layers,
    heads,
    kv_heads: reading.number(`${name}.attention.head_count_kv`, heads),
    head_width,
    hidden: of("feed_forward_length"),
    context: of("context_length"),
    tied: !header.tensors.has("output.weight"),
    rope_theta: reading.number(`${name}.rope.freq_base`, 10_000),
    epsilon,
  };
  return { ...size, style: styleOf(header, reading, name, size) };
}

function headWidthOf(header: Header, reading: Reading, name: Architecture): number | undefined {
  const key = reading.maybeNumber(`${name}.attention.key_length`);
  const value = reading.maybeNumber(`${name}.attention.value_length`);
  if (key !== undefined && value !== undefined && key !== value)
    throw ggufError(
      header.file,
      `its heads of keys (${key}) and values (${value}) differ in width`,
      "Use a model whose heads all have the same width.",
    );
  return key ?? reading.maybeNumber(`${name}.rope.dimension_count`);
}
function vocabularyOf(header: Header): number {
  const rows = header.tensors.get("token_embd.weight")?.extents[0];
  if (rows === undefined) throw ggufError(header.file, "it lacks the tensor token_embd.weight");
  return rows;
}

function styleOf(header: Header, reading: Reading, name: Architecture, size: Omit<Shape, "style">): Style {
  const { head_width, width, layers, heads } = size;
  const base: Style = {
    ...llamaStyle(head_width),
    rope_scaling: scalingOf(header, reading, name, size),
    bias: biasOf(header),
  };
  const window = reading.number(`${name}.attention.sliding_window`, 0);
  const windowed = (local: (layer: number) => boolean, rope_theta: number): Style["window"] => ({
    tokens: window,
    layers: Array.from({ length: layers }, (_, layer) => local(layer)),
    rope_theta,
  });
  switch (name) {
    case "llama":
      return window === 0
        ? base
        : { ...base, family: "mistral", window: windowed(() => true, size.rope_theta) };
    case "qwen2":
      return { ...base, family: "qwen2" };
    case "qwen3":
      return { ...base, family: "qwen3", qk_norm: true };
    case "gemma3":
      return {
        ...base,
        family: "gemma3",
        gain_offset: 1,
        post_norms: true,
        qk_norm: true,
        activation: "gelu",
        window: windowed(
          (layer) => (layer + 1) % GEMMA_PERIOD !== 0,
          reading.number("gemma3.rope.freq_base_swa", 10_000),
        ),
        embedding_scale: Math.sqrt(width),
        query_scale: 1 / Math.sqrt(layers === LARGEST_GEMMA_LAYERS ? width / heads : head_width),
      };
    case "gpt2":
      return {
        ...base,
        family: "gpt2",
        norm: "layer",
        activation: "gelu",
        gated: false,
        positions: "learned",
      };
  }
}

function biasOf({ tensors }: Header): Style["bias"] {
  return {
    qkv: tensors.has("blk.0.attn_q.bias") || tensors.has("blk.0.attn_qkv.bias"),
    out: tensors.has("blk.0.attn_output.bias"),
    feed_forward: tensors.has("blk.0.ffn_up.bias"),
  };
}

function scalingOf(
  header: Header,
  reading: Reading,
  name: Architecture,
  size: Omit<Shape, "style">,
): Style["rope_scaling"] {
  const type = reading.text(`${name}.rope.scaling.type`, "none");
  if (type !== "none" && type !== "linear")
    throw ggufError(
      header.file,
      `${name}.rope.scaling.type is ${type}`,
      "Use a model whose positions are plain, linear or Llama 3's.",
    );
  const tensor = header.tensors.get("rope_freqs.weight");
  if (tensor !== undefined) {
    const factors = unpacked(tensor.type, tensorBytes(header, tensor));
    const stretch = stretchOf(factors, size.rope_theta, size.head_width);
    if (stretch === undefined)
      throw ggufError(
        header.file,
        "its rope_freqs.weight is not Llama 3's",
        "Use a model whose positions are plain, linear or Llama 3's.",
      );
    return stretch.factor === 1 ? null : stretch;
  }
  if (type === "none") return null;
  return { type: "linear", factor: reading.number(`${name}.rope.scaling.factor`) };
}
