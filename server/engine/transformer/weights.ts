/**
 * The weights of a decoder, by architecture, and how they begin.
 *
 * Matrices are `[in, out]`, so a row of activations times a matrix is a row. `qkv` holds the heads side by side:
 * queries, keys, values; inside a query or key head the two halves of a rotary pair lie next to each other, which
 * makes the rotation one complex product. Checkpoints undo both (see checkpoint.ts).
 */
import { countOf, type Named } from "../../core/ops.ts";
import { Stream } from "../random.ts";
import { fresh, type Room } from "../devices/scratch.ts";

/**
 * In what an architecture differs from another: everything a layer's code asks. An architecture is a value of this,
 * never a copy of the code.
 */
export interface Style {
  /** Whose names and layout the Hugging Face folder and the GGUF file of this model use. */
  readonly family: Family;
  /** rms: y = x / √(mean(x²) + ε) · gain; layer: (x − mean) / √(var + ε) · gain + bias. */
  readonly norm: "rms" | "layer";
  /** Added to a gain before it multiplies: 1 where a checkpoint stores gain − 1 (Gemma). */
  readonly gain_offset: 0 | 1;
  /** Norms on the output of attention and feed-forward, too, before they are added to the stream (Gemma). */
  readonly post_norms: boolean;
  /** Norms on every query and key head, with gains `q_norm`, `k_norm` (Qwen3, Gemma 3). */
  readonly qk_norm: boolean;
  /** silu; gelu: its tanh approximation. */
  readonly activation: "silu" | "gelu";
  /** down(act(gate(x)) · up(x)); else down(act(up(x))) (GPT-2). */
  readonly gated: boolean;
  readonly bias: { readonly qkv: boolean; readonly out: boolean; readonly feed_forward: boolean };
  /** rotary pairs, or learned vectors added to the embedding (GPT-2). */
  readonly positions: "rotary" | "learned";
  /** Llama 3's stretch of the slow rotary frequencies, or all positions divided (linear). */
  readonly rope_scaling:
    | null
    | { readonly type: "linear"; readonly factor: number }
    | {
        readonly type: "llama3";
        readonly factor: number;
        readonly low_freq_factor: number;
        readonly high_freq_factor: number;
        readonly original_context: number;
      };
  /** Layers that see only the last `window` tokens (Mistral: all, null layers; Gemma 3: five of six, with their own θ). */
  readonly window: null | {
    readonly tokens: number;
    /** Layer l is local where this is true of it. */
    readonly layers: readonly boolean[];
    /** Rotary θ of the local layers, unscaled. */
    readonly rope_theta: number;
  };
  /** Multiplies the token embedding (Gemma: √width). */
  readonly embedding_scale: number;
  /** Multiplies queries; default 1/√(head width). */
  readonly query_scale: number;
}

export const families = ["llama", "mistral", "qwen2", "qwen3", "gemma3", "gpt2"] as const;
export type Family = (typeof families)[number];

/** Llama, and with it the `tiny` family. */
export const llamaStyle = (headWidth: number): Style => ({
  family: "llama",
  norm: "rms",
  gain_offset: 0,
  post_norms: false,
  qk_norm: false,
  activation: "silu",
  gated: true,
  bias: { qkv: false, out: false, feed_forward: false },
  positions: "rotary",
  rope_scaling: null,
  window: null,
  embedding_scale: 1,
  query_scale: 1 / Math.sqrt(headWidth),
});

export interface Shape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kv_heads: number;
  readonly head_width: number;
  readonly hidden: number;
  readonly context: number;
  readonly tied: boolean;
  readonly rope_theta: number;
  readonly epsilon: number;
  readonly style: Style;
}

export const headWidth = (shape: Shape): number => shape.head_width;
/** Queries, keys and values of one token. */
export const qkvWidth = (shape: Shape): number => (shape.heads + 2 * shape.kv_heads) * headWidth(shape);

/** The extents of every weight by name, in a fixed order. */
export function weightShapes(shape: Shape): Named<readonly number[]> {
  const { vocabulary, width, style } = shape;
  const shapes: Record<string, readonly number[]> = { embedding: [vocabulary, width] };
  if (style.positions === "learned") shapes["positions"] = [shape.context, width];
  for (let layer = 0; layer < shape.layers; layer++)
    for (const [name, extents] of Object.entries(layerShapes(shape))) shapes[`${layer}.${name}`] = extents;
  Object.assign(shapes, normShapes(shape, "norm"));
  if (!shape.tied) shapes["head"] = [vocabulary, width];
  return shapes;
}

const normShapes = ({ style, width }: Shape, name: string): Record<string, readonly number[]> => ({
  [name]: [width],
  ...(style.norm === "layer" ? { [`${name}_bias`]: [width] } : {}),
});

function layerShapes(shape: Shape): Record<string, readonly number[]> {
  const { width, hidden, style } = shape;
  const head = headWidth(shape);
  const only = (wanted: boolean, shapes: Record<string, readonly number[]>) => (wanted ? shapes : {});
  return {
    ...normShapes(shape, "norm1"),
    qkv: [width, qkvWidth(shape)],
    ...only(style.bias.qkv, { qkv_bias: [qkvWidth(shape)] }),
    ...only(style.qk_norm, { q_norm: [head], k_norm: [head] }),
    out: [shape.heads * head, width],
    ...only(style.bias.out, { out_bias: [width] }),
    ...only(style.post_norms, normShapes(shape, "post_norm1")),
    ...normShapes(shape, "norm2"),
    ...only(style.gated, { gate: [width, hidden] }),
    up: [width, hidden],
    ...only(style.bias.feed_forward, { up_bias: [hidden] }),
    down: [hidden, width],
    ...only(style.bias.feed_forward, { down_bias: [width] }),
    ...only(style.post_norms, normShapes(shape, "post_norm2")),
  };
}
export const parameterCount = (shape: Shape): number => countMatching(shape, () => true);
/** Numbers in the weights of these names, as `weightShapes` has them. Layers are alike: one is looked at. */
export function countMatching(shape: Shape, isWanted: (name: string) => boolean): number {
  const one = weightShapes({ ...shape, layers: 1 });
  return Object.entries(one).reduce((total, [name, extents]) => {
    const times = name.startsWith("0.") ? shape.layers : 1;
    return isWanted(name) ? total + times * countOf(extents) : total;
  }, 0);
}

/** Gains are 1, biases 0, the rest normal with deviation 0.02; what feeds the residual stream is smaller, by 1/√(2·layers) (GPT-2). */
export function initialWeight(
  { style, layers }: Shape,
  seed: number,
  name: string,
  extents: readonly number[],
  room: Room = fresh,
): Float32Array {
  const values = room(countOf(extents));
  if (name.endsWith("_bias")) return values.fill(0);
  if (extents.length === 1) return values.fill(1 - style.gain_offset);
  const residual = name.endsWith(".out") || name.endsWith(".down");
  const deviation = 0.02 / (residual ? Math.sqrt(2 * layers) : 1);
  const random = new Stream(seed, "weights", name);
  for (let i = 0; i < values.length; i++) values[i] = deviation * random.normal();
  return values;
}
