/** The forward pass over whole rows: what training, scoring and prefill share. Activations are kept for `backward`. */
import type { Dim, Ops } from "../ops.ts";
import { prefixed, take, type Named } from "../runtime.ts";
import { headWidth, qkvWidth, type Shape } from "./weights.ts";

/** Extents of one batch of rows, right-padded: row i's tokens are 0 … length − 1, padding never seen by what precedes it. */
export interface Extents<T> {
  readonly rows: Dim<T>;
  readonly length: Dim<T>;
}

/** y = x / √(mean(x²) + ε), and the factor; gains are folded into the next matrix. */
export function rms<T>(ops: Ops<T>, shape: Shape, x: T): { y: T; inverse: T } {
  const inverse = ops.rsqrt(ops.shift(ops.mean(ops.square(x)), shape.epsilon));
  return { y: ops.mul(x, inverse), inverse };
}

/** Axes of attention: `[heads, rows, length, head width]`; with fewer key heads, `[key heads, group, …]` that broadcast. */
export function headAxes<T>(shape: Shape, { rows, length }: Extents<T>, kind: "query" | "key"): Dim<T>[] {
  const width = headWidth(shape);
  const group = shape.heads / shape.kv_heads;
  if (group === 1) return [shape.heads, rows, length, width];
  return [shape.kv_heads, kind === "query" ? group : 1, rows, length, width];
}

/** `[tokens, heads · width]` → `[heads, rows, length, width]`. */
export function byHead<T>(ops: Ops<T>, x: T, heads: number, width: number, { rows, length }: Extents<T>): T {
  return ops.transpose(ops.reshape(x, [rows, length, heads, width]), [2, 0, 1, 3]);
}
/** The way back. */
export function byToken<T>(ops: Ops<T>, x: T, heads: number, width: number): T {
  return ops.reshape(ops.transpose(x, [1, 2, 0, 3]), [-1, heads * width]);
}

/** Rotated queries and keys, and values, head by head, from normalised activations. */
export function project<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  y: T,
  extents: Extents<T>,
  table: T,
): { q: T; k: T; v: T } {
  const width = headWidth(shape);
  const { heads, kv_heads } = shape;
  const all = byHead(ops, ops.matmul(y, take(folded, `${layer}.qkv`)), heads + 2 * kv_heads, width, extents);
  const [turning, v] = ops.split(all, [heads + kv_heads, kv_heads], 0);
  const turned = ops.rotate(turning!, [heads + kv_heads, extents.rows, extents.length, width], table, false);
  const [q, k] = ops.split(turned, [heads, kv_heads], 0);
  return { q: q!, k: k!, v: v! };
}

/** softmax(q·kᵀ + mask)·v of one layer; `q` is already scaled. */
function attend<T>(
  ops: Ops<T>,
  shape: Shape,
  { q, k, v }: { q: T; k: T; v: T },
  extents: Extents<T>,
  mask: T,
): { p: T; a: T } {
  const [query, key] = [headAxes(shape, extents, "query"), headAxes(shape, extents, "key")];
  const scores = ops.batchMatmul(ops.reshape(q, query), ops.reshape(k, key), false, true);
  const p = ops.softmax(ops.add(scores, mask));
  const mixed = ops.batchMatmul(p, ops.reshape(v, key));
  return { p, a: ops.reshape(mixed, [shape.heads, extents.rows, extents.length, headWidth(shape)]) };
}

/** down(silu(gate(y)) · up(y)). */
function feedForward<T>(
  ops: Ops<T>,
  folded: Named<T>,
  layer: number,
  y: T,
): Record<"gate" | "up" | "sigmoid" | "silu" | "hidden" | "result", T> {
  const gate = ops.matmul(y, take(folded, `${layer}.gate`));
  const up = ops.matmul(y, take(folded, `${layer}.up`));
  const sigmoid = ops.sigmoid(gate);
  const silu = ops.mul(gate, sigmoid);
  const hidden = ops.mul(silu, up);
  return { gate, up, sigmoid, silu, hidden, result: ops.matmul(hidden, take(folded, `${layer}.down`)) };
}

/** What all layers of one batch share. */
export interface Surroundings<T> {
  readonly extents: Extents<T>;
  /** cos and sin of every position. */
  readonly table: T;
  readonly mask: T;
}
/** `ids` are `[rows, length]` integers; only their extents count here. */
export function surroundings<T>(ops: Ops<T>, ids: T, rotary: T): Surroundings<T> {
  const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
  const positions = ops.range(extents.length);
  return {
    extents,
    table: ops.gather(rotary, positions),
    mask: ops.futureMask(positions, extents.length),
  };
}

/** The stream before the first layer, `[rows · length, width]`. */
export function embed<T>(ops: Ops<T>, folded: Named<T>, ids: T): T {
  return ops.gather(take(folded, "embedding"), ops.reshape(ids, [-1], "int"));
}

/** One layer: the stream after it, and what its backward pass needs under `<layer>.<name>`. */
export function forwardLayer<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  x: T,
  { extents, table, mask }: Surroundings<T>,
): { x: T; kept: Record<string, T> } {
  const first = rms(ops, shape, x);
  const heads = project(ops, shape, folded, layer, first.y, extents, table);
  const { p, a } = attend(ops, shape, heads, extents, mask);
  const attended = byToken(ops, a, shape.heads, headWidth(shape));
  const middle = ops.add(x, ops.matmul(attended, take(folded, `${layer}.out`)));
  const second = rms(ops, shape, middle);
  const { result, ...inner } = feedForward(ops, folded, layer, second.y);
  const own: Record<string, T> = {
    ...heads,
    p,
    a,
    attended,
    ...inner,
    y1: first.y,
    inverse1: first.inverse,
    y2: second.y,
    inverse2: second.inverse,
  };
  return { x: ops.add(middle, result), kept: prefixed(`${layer}.`, own) };
}

/**
 * Activations of a batch: `ids` are `[rows, length]` integers. The result holds what `backward` needs, by layer, and
 * the normalised final state `y` `[rows · length, width]` that the head multiplies.
 */
export function forward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  ids: T,
  rotary: T,
): Record<string, T> {
  const around = surroundings(ops, ids, rotary);
  const all: Record<string, T> = {};
  let x = embed(ops, folded, ids);
  for (let layer = 0; layer < shape.layers; layer++) {
    const { x: next, kept } = forwardLayer(ops, shape, folded, layer, x, around);
    Object.assign(all, kept);
    x = next;
  }
  return { ...all, ...rms(ops, shape, x) };
}

/** Ranks of what one layer keeps, by name: how a later program is fed it. */
export function layerRanks(shape: Shape, layer: number): Record<string, number> {
  const attention = shape.heads === shape.kv_heads ? 4 : 5;
  const flat = ["y1", "inverse1", "y2", "inverse2", "attended", "gate", "up", "sigmoid", "silu", "hidden"];
  const ranks: Record<string, number> = { p: attention };
  for (const name of flat) ranks[name] = 2;
  for (const name of ["q", "k", "v", "a"]) ranks[name] = 4;
  return prefixed(`${layer}.`, ranks);
}
/** Ranks of what `forward` keeps. */
export function keptRanks(shape: Shape): Record<string, number> {
  const layers = Array.from({ length: shape.layers }, (_, layer) => layerRanks(shape, layer));
  return Object.assign({ y: 2, inverse: 2 }, ...layers);
}

/** Floats that one layer keeps per token of a row of this length: the memory prediction of the staged mode. */
export function layerFloats(shape: Shape, length: number): number {
  return 5 * shape.width + qkvWidth(shape) + 5 * shape.hidden + shape.heads * length;
}
/** The same for all layers and the final state. */
export function keptFloats(shape: Shape, length: number): number {
  return shape.layers * layerFloats(shape, length) + 2 * shape.width;
}
