/**
 * Where each of our weights lies in a GGUF file: which tensors, and which of their rows are which of our columns. Files
 * hold matrices `[out, in]` and query and key heads of their own, ours are `[in, out]` with q, k and v side by side.
 */
import { headWidth, qkvWidth, weightShapes, type Shape } from "../../transformer/weights.ts";

export interface GgufTensor {
  readonly weight: string;
  readonly tensor: string;
  /** As in the file, row-major. */
  readonly extents: readonly number[];
  /** table: as it is; matrix: transposed; vector: one number a column. */
  readonly kind: "table" | "matrix" | "vector";
  /** Row of the tensor → column of the weight. */
  readonly columns: Int32Array;
  /** What the file adds to a gain: Gemma's files hold it whole, its weights hold gain − 1. */
  readonly added: 0 | 1;
}

/** Names of layer `l`'s tensors, after `blk.l.`. */
const names: Readonly<Record<string, string>> = {
  norm1: "attn_norm.weight",
  norm1_bias: "attn_norm.bias",
  q_norm: "attn_q_norm.weight",
  k_norm: "attn_k_norm.weight",
  out: "attn_output.weight",
  out_bias: "attn_output.bias",
  post_norm1: "post_attention_norm.weight",
  norm2: "ffn_norm.weight",
  norm2_bias: "ffn_norm.bias",
  gate: "ffn_gate.weight",
  up: "ffn_up.weight",
  up_bias: "ffn_up.bias",
  down: "ffn_down.weight",
  down_bias: "ffn_down.bias",
  post_norm2: "post_ffw_norm.weight",
};
const outside: Readonly<Record<string, string>> = {
  embedding: "token_embd.weight",
  positions: "position_embd.weight",
  norm: "output_norm.weight",
  norm_bias: "output_norm.bias",
  head: "output.weight",
};

const upTo = (n: number): Int32Array => Int32Array.from({ length: n }, (_, i) => i);
/** Rotary pairs lie half a head apart in these files, side by side in ours; Llama's files are written as ours. */
const pairsApart = ({ style }: Shape): boolean =>
  style.positions === "rotary" && style.family !== "llama" && style.family !== "mistral";
function pairColumns(rows: number, width: number): Int32Array {
  const half = width / 2;
  return Int32Array.from({ length: rows }, (_, row) => {
    const within = row % width;
    return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
  });
}

/** Queries, keys and values: one tensor in GPT-2's files, three in the others. */
function projections(shape: Shape): { readonly name: string; readonly columns: Int32Array }[] {
  if (shape.style.family === "gpt2") return [{ name: "attn_qkv", columns: upTo(qkvWidth(shape)) }];
  const width = headWidth(shape);
  const [queries, keys] = [shape.heads * width, shape.kv_heads * width];
  const order = (rows: number): Int32Array => (pairsApart(shape) ? pairColumns(rows, width) : upTo(rows));
  return [
    { name: "attn_q", columns: order(queries) },
    { name: "attn_k", columns: order(keys).map((column) => column + queries) },
    { name: "attn_v", columns: upTo(keys).map((column) => column + queries + keys) },
  ];
}

/** Every tensor of a model of this shape, in the order of its weights. */
export function placesOf(shape: Shape): GgufTensor[] {
  return Object.entries(weightShapes(shape)).flatMap(([weight, extents]): GgufTensor[] => {
    const [layer, own] = weight.includes(".") ? weight.split(".") : [undefined, weight];
    const prefix = layer === undefined ? "" : `blk.${layer}.`;
    const [rows = 0, columns] = extents;
    if (own === "qkv" || own === "qkv_bias")
      return projections(shape).map((projection) => ({
        weight,
        tensor: `${prefix}${projection.name}.${own === "qkv" ? "weight" : "bias"}`,
        extents: own === "qkv" ? [projection.columns.length, rows] : [projection.columns.length],
        kind: own === "qkv" ? "matrix" : "vector",
        columns: projection.columns,
        added: 0,
      }));
    const tensor = `${prefix}${(layer === undefined ? outside : names)[own ?? ""] ?? own}`;
    if (columns === undefined) {
      const paired = (own === "q_norm" || own === "k_norm") && pairsApart(shape);
      const gain = own?.endsWith("_bias") === false;
      return [
        {
          weight,
          tensor,
          extents,
          kind: "vector",
          columns: paired ? pairColumns(rows, rows) : upTo(rows),
          added: gain ? shape.style.gain_offset : 0,
        },
      ];
    }
    if (layer === undefined) return [{ weight, tensor, extents, kind: "table", columns: upTo(0), added: 0 }];
    return [{ weight, tensor, extents: [columns, rows], kind: "matrix", columns: upTo(columns), added: 0 }];
  });
}

/** Rows at a time: their cache lines are used up before others come. */
const BLOCK = 16;

/** From a tensor of the file, not a table, into its place in our weight, whose rows have `width` columns (1 for a vector). */
export function placeIn(
  { kind, extents, columns, added }: GgufTensor,
  from: Float32Array,
  to: Float32Array,
): void {
  if (kind === "vector") {
    for (let i = 0; i < columns.length; i++) to[columns[i]!] = from[i]! - added;
    return;
  }
  const [rows = 0, inputs = 0] = extents;
  const width = to.length / inputs;
  for (let first = 0; first < rows; first += BLOCK) {
    const last = Math.min(rows, first + BLOCK);
    for (let input = 0; input < inputs; input++)
      for (let row = first; row < last; row++)
        to[input * width + columns[row]!] = from[row * inputs + input]!;
  }
}

/** The other way: what a file's tensor holds of our weight. */
export function takeFrom({ kind, extents, columns, added }: GgufTensor, from: Float32Array): Float32Array {
  if (kind === "table") return from;
  if (kind === "vector") return Float32Array.from(columns, (column) => from[column]! + added);
  const [rows = 0, inputs = 0] = extents;
  const width = from.length / inputs;
  const tensor = new Float32Array(rows * inputs);
  for (let first = 0; first < rows; first += BLOCK) {
    const last = Math.min(rows, first + BLOCK);
    for (let input = 0; input < inputs; input++)
      for (let row = first; row < last; row++)
        tensor[row * inputs + input] = from[input * width + columns[row]!]!;
  }
  return tensor;
}
