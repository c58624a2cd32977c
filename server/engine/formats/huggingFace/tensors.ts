/** Which tensors of a Hugging Face folder hold which part of our weights: names of every family, and how they lie. */
import { headWidth, type Shape, weightShapes } from "../../transformer/weights.ts";

/** One tensor of the folder. */
export interface PublicTensor {
  readonly name: string;
  readonly extents: readonly number[];
  /** `[out, in]` where ours is `[in, out]`. */
  readonly transposed: boolean;
  /** Which of our columns it holds. */
  readonly start: number;
  readonly columns: number;
  /** Its outputs are rotary heads: the two halves of a pair lie half a head apart, ours side by side. */
  readonly halves: boolean;
}

const llamaNames: Readonly<Record<string, string>> = {
  embedding: "model.embed_tokens",
  norm: "model.norm",
  head: "lm_head",
  norm1: "input_layernorm",
  norm2: "post_attention_layernorm",
  q_norm: "self_attn.q_norm",
  k_norm: "self_attn.k_norm",
  out: "self_attn.o_proj",
  gate: "mlp.gate_proj",
  up: "mlp.up_proj",
  down: "mlp.down_proj",
};
const gemmaNames: Readonly<Record<string, string>> = {
  ...llamaNames,
  post_norm1: "post_attention_layernorm",
  norm2: "pre_feedforward_layernorm",
  post_norm2: "post_feedforward_layernorm",
};
const gptNames: Readonly<Record<string, string>> = {
  embedding: "transformer.wte",
  positions: "transformer.wpe",
  norm: "transformer.ln_f",
  head: "lm_head",
  norm1: "ln_1",
  norm2: "ln_2",
  qkv: "attn.c_attn",
  out: "attn.c_proj",
  up: "mlp.c_fc",
  down: "mlp.c_proj",
};

interface Naming {
  readonly names: Readonly<Record<string, string>>;
  readonly layers: string;
  /** Queries, keys and values are tensors of their own. */
  readonly apart: boolean;
}
const llama: Naming = { names: llamaNames, layers: "model.layers", apart: true };
const naming = (shape: Shape): Naming => {
  const { family } = shape.style;
  if (family === "gpt2") return { names: gptNames, layers: "transformer.h", apart: false };
  return family === "gemma3" ? { ...llama, names: gemmaNames } : llama;
};

/** Queries, keys and values inside `qkv`: name, first column, columns, whether they are rotated. */
function projections(shape: Shape): {
  readonly name: "q_proj" | "k_proj" | "v_proj";
  readonly start: number;
  readonly columns: number;
  readonly rotary: boolean;
}[] {
  const width = headWidth(shape);
  const [queries, keys] = [shape.heads * width, shape.kv_heads * width];
  const rotary = shape.style.positions === "rotary";
  return [
    { name: "q_proj", start: 0, columns: queries, rotary },
    { name: "k_proj", start: queries, columns: keys, rotary },
    { name: "v_proj", start: queries + keys, columns: keys, rotary: false },
  ];
}

/** The tensors that together are one of our weights. */
function tensorsOf(shape: Shape, weight: string, extents: readonly number[]): PublicTensor[] {
  const { names, layers, apart } = naming(shape);
  const [, layer, inLayer] = /^(\d+)\.(.+)$/.exec(weight) ?? [];
  const own = inLayer ?? weight;
  const bias = own.endsWith("_bias");
  const bare = bias ? own.slice(0, -"_bias".length) : own;
  const path = layer === undefined ? "" : `${layers}.${layer}.`;
  const [rows, columns] = extents.length === 2 ? [extents[0]!, extents[1]!] : [1, extents[0]!];
  // GPT-2 keeps its matrices as [in, out], as we do; tables are rows of the vocabulary or of positions in both.
  const transposed = extents.length === 2 && layer !== undefined && shape.style.family !== "gpt2";
  const tensor = (name: string, start: number, count: number, halves: boolean): PublicTensor => ({
    name: `${path}${name}.${bias ? "bias" : "weight"}`,
    extents: extents.length === 1 ? [count] : transposed ? [count, rows] : [rows, count],
    transposed,
    start,
    columns: count,
    halves,
  });
  if (bare === "qkv" && apart)
    return projections(shape).map((part) =>
      tensor(`self_attn.${part.name}`, part.start, part.columns, part.rotary),
    );
  const halves = /[qk]_norm$/.test(bare) && shape.style.positions === "rotary";
  return [tensor(names[bare] ?? bare, 0, columns, halves)];
}

/** The folder's tensors by our weight, in the order of `weightShapes`. */
export const publicTensors = (shape: Shape): Readonly<Record<string, readonly PublicTensor[]>> =>
  Object.fromEntries(
    Object.entries(weightShapes(shape)).map(([weight, extents]) => [
      weight,
      tensorsOf(shape, weight, extents),
    ]),
  );

/** Names that files carry without holding weights of ours: masks, rotary frequencies, a tied head once more. */
export function isIgnored(shape: Shape, name: string): boolean {
  if (/(^|\.)(rotary_emb\.inv_freq|attn\.(bias|masked_bias))$/.test(name)) return true;
  return shape.tied && name === "lm_head.weight";
}
/** Prefix of everything but the head; files of the bare model lack it. */
export const modelPrefix = (shape: Shape): string => `${naming(shape).layers.split(".")[0]}.`;
