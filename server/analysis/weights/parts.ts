/** The weights of a model as people speak of them: queries, keys and values apart, each with its layer and kind. */
import type { Shape } from "../../engine/transformer/weights.ts";
import { weightShapes } from "../../engine/transformer/weights.ts";
import { publicTensors } from "../../engine/formats/huggingFace/tensors.ts";

export const kinds = ["embedding", "q", "k", "v", "o", "gate", "up", "down", "norm", "head"] as const;
export type Kind = (typeof kinds)[number];

/** Some columns of one of the engine's weights. */
export interface Part {
  /** As a Hugging Face folder has it; `#q` behind it where that holds queries, keys and values as one tensor. */
  readonly name: string;
  readonly kind: Kind;
  /** null: it belongs to none. */
  readonly layer: number | null;
  readonly rows: number;
  readonly columns: number;
  /** Its first column. */
  readonly start: number;
  /** A vector, without a spectrum of its own. */
  readonly flat: boolean;
}

const named: Readonly<Record<string, Kind>> = {
  embedding: "embedding",
  positions: "embedding",
  head: "head",
  out: "o",
  gate: "gate",
  up: "up",
  down: "down",
};

/** First column and number of columns of queries, keys and values. */
const attention = ({ heads, kv_heads, head_width }: Shape): readonly [Kind, number, number][] => {
  const [queries, keys] = [heads * head_width, kv_heads * head_width];
  return [
    ["q", 0, queries],
    ["k", queries, keys],
    ["v", queries + keys, keys],
  ];
};

/** By the engine's weight, in its order. */
export function partsOf(shape: Shape): Map<string, readonly Part[]> {
  const tensors = publicTensors(shape);
  return new Map(
    Object.entries(weightShapes(shape)).map(([weight, extents]) => {
      const [, layer, inLayer] = /^(\d+)\.(.+)$/.exec(weight) ?? [];
      const own = (inLayer ?? weight).replace(/_bias$/, "");
      const flat = extents.length === 1;
      const [rows, columns] = flat ? [1, extents[0]!] : [extents[0]!, extents[1]!];
      const common = { layer: layer === undefined ? null : Number(layer), rows, flat };
      const names = tensors[weight]!.map(({ name }) => name);
      if (own !== "qkv")
        return [weight, [{ ...common, name: names[0]!, kind: named[own] ?? "norm", start: 0, columns }]];
      const parts = attention(shape).map(([kind, start, count], i) => ({
        ...common,
        name: names.length === 1 ? `${names[0]}#${kind}` : names[i]!,
        kind,
        start,
        columns: count,
      }));
      return [weight, parts];
    }),
  );
}

/** The part's own numbers; where it is all of the weight, the weight's. */
export function cut(values: Float32Array, { rows, columns, start }: Part): Float32Array {
  const stride = values.length / rows;
  if (columns === stride) return values;
  const own = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const from = row * stride + start;
    own.set(values.subarray(from, from + columns), row * columns);
  }
  return own;
}
