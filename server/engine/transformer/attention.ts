/** Causal attention over whole rows, forward and backward. */
import { take, type Named, type Dim, type Ops } from "../../core/ops.ts";
import { linear, linearBackward, type Gradients } from "./linear.ts";
import { rms, rmsBackward } from "./norm.ts";
import { headWidth, type Shape } from "./weights.ts";

/** Extents of one batch of rows, right-padded: row i's tokens are 0 … length − 1, padding never seen by what precedes it. */
export interface Extents<T> {
  readonly rows: Dim<T>;
  readonly length: Dim<T>;
}

/** Axes of attention: `[heads, rows, length, head width]`; with fewer key heads, `[key heads, group, …]` that broadcast. */
function headAxes<T>(shape: Shape, { rows, length }: Extents<T>, kind: "query" | "key"): Dim<T>[] {
  const width = headWidth(shape);
  const group = shape.heads / shape.kv_heads;
  if (group === 1) return [shape.heads, rows, length, width];
  return [shape.kv_heads, kind === "query" ? group : 1, rows, length, width];
}

/** `[tokens, heads · width]` → `[heads, rows, length, width]`. */
function byHead<T>(ops: Ops<T>, x: T, heads: number, width: number, { rows, length }: Extents<T>): T {
  return ops.transpose(ops.reshape(x, [rows, length, heads, width]), [2, 0, 1, 3]);
}
/** The way back. */
function byToken<T>(ops: Ops<T>, x: T, heads: number, width: number): T {
  return ops.reshape(ops.transpose(x, [1, 2, 0, 3]), [-1, heads * width]);
}

/** Gains of the norms on queries and keys, `[query and key heads, …, width]`. */
const headGains = <T>(ops: Ops<T>, shape: Shape, folded: Named<T>, layer: number): T =>
  ops.reshape(take(folded, `${layer}.qk_norm`), [shape.heads + shape.kv_heads, 1, 1, headWidth(shape)]);

/** Queries and keys, normed and rotated as the architecture wants, and values, head by head, from normalised activations. */
export function project<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  y: T,
  extents: Extents<T>,
  table: T,
): Record<string, T> & Record<"q" | "k" | "v", T> {
  const width = headWidth(shape);
  const { heads, kv_heads, style } = shape;
  const both = heads + kv_heads;
  const all = byHead(ops, linear(ops, folded, `${layer}.qkv`, y), both + kv_heads, width, extents);
  const [plain, v] = ops.split(all, [both, kv_heads], 0);
  const kept: Record<string, T> = {};
  let turning: T = plain!;
  if (style.qk_norm) {
    const { normed, inverse } = rms(ops, shape.epsilon, turning);
    Object.assign(kept, { qk_normed: normed, qk_inverse: inverse });
    turning = ops.mul(normed, headGains(ops, shape, folded, layer));
  }
  if (style.positions === "rotary")
    turning = ops.rotate(turning, [both, extents.rows, extents.length, width], table, false);
  const [q, k] = ops.split(turning, [heads, kv_heads], 0);
  return { ...kept, q: q!, k: k!, v: v! };
}

/** softmax(q·kᵀ + mask)·v; `q` is already scaled. Results are `p`, `[tokens, heads · width]` and `[heads, rows, length, width]`. */
export function attend<T>(
  ops: Ops<T>,
  shape: Shape,
  { q, k, v }: Record<"q" | "k" | "v", T>,
  extents: Extents<T>,
  mask: T,
): Record<"p" | "a" | "attended", T> {
  const [query, key] = [headAxes(shape, extents, "query"), headAxes(shape, extents, "key")];
  const scores = ops.batchMatmul(ops.reshape(q, query), ops.reshape(k, key), false, true);
  const p = ops.softmax(ops.add(scores, mask));
  const mixed = ops.batchMatmul(p, ops.reshape(v, key));
  const a = ops.reshape(mixed, [shape.heads, extents.rows, extents.length, headWidth(shape)]);
  return { p, a, attended: byToken(ops, a, shape.heads, headWidth(shape)) };
}

/** `a` of `attend` from `attended`. */
export const attendedByHead = <T>(ops: Ops<T>, shape: Shape, attended: T, extents: Extents<T>): T =>
  byHead(ops, attended, shape.heads, headWidth(shape), extents);

/** Gradients by rotated queries and keys and by values. dS = P ∘ (dA·Vᵀ − rowsum(dA ∘ A)). */
function attendBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  kept: Named<T>,
  da: T,
  extents: Extents<T>,
): { dq: T; dk: T; dv: T } {
  const [query, key] = [headAxes(shape, extents, "query"), headAxes(shape, extents, "key")];
  const grouped = shape.heads !== shape.kv_heads;
  const q = ops.reshape(take(kept, "q"), query);
  const [k, v] = [ops.reshape(take(kept, "k"), key), ops.reshape(take(kept, "v"), key)];
  const p = take(kept, "p");
  const rows = ops.sum(ops.mul(da, take(kept, "a")));
  const delta = ops.reshape(rows, [...query.slice(0, -1), 1]);
  const dAttended = ops.reshape(da, query);
  const ds = ops.mul(p, ops.sub(ops.batchMatmul(dAttended, v, false, true), delta));
  const plain = (heads: number, x: T): T =>
    ops.reshape(x, [heads, extents.rows, extents.length, headWidth(shape)]);
  const overGroup = (x: T): T => plain(shape.kv_heads, grouped ? ops.sumAxis(x, 1) : x);
  return {
    dq: plain(shape.heads, ops.batchMatmul(ds, k)),
    dk: overGroup(ops.batchMatmul(ds, q, true)),
    dv: overGroup(ops.batchMatmul(p, dAttended, true)),
  };
}

/** Gradient by queries, keys and values as the matrix made them, `[all heads, rows, length, width]`. */
function projectBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  kept: Named<T>,
  { dq, dk, dv }: { dq: T; dk: T; dv: T },
  extents: Extents<T>,
  table: T,
  gradients: Gradients<T>,
): T {
  const { heads, kv_heads, style } = shape;
  const width = headWidth(shape);
  const back = (x: T, count: number): T =>
    style.positions === "rotary"
      ? ops.rotate(x, [count, extents.rows, extents.length, width], table, true)
      : x;
  if (!style.qk_norm) return ops.concat([back(dq, heads), back(dk, kv_heads), dv], 0);
  const both = heads + kv_heads;
  const d = ops.concat([back(dq, heads), back(dk, kv_heads)], 0);
  const [normed, inverse] = [take(kept, "qk_normed"), take(kept, "qk_inverse")];
  const byGain = ops.sumAxis(ops.reshape(ops.mul(d, normed), [both, -1, width]), 1);
  gradients.found[`${layer}.qk_norm`] = byGain;
  const dn = ops.mul(d, headGains(ops, shape, folded, layer));
  return ops.concat([rmsBackward(ops, dn, { normed, inverse }), dv], 0);
}

/** Gradient by the block's input after its norm, from the gradient `d` by its result. */
export function attentionBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  kept: Named<T>,
  d: T,
  extents: Extents<T>,
  table: T,
  gradients: Gradients<T>,
): T {
  const { heads, kv_heads } = shape;
  const width = headWidth(shape);
  gradients.matrix(`${layer}.out`, take(kept, "attended"), d);
  const da = byHead(ops, linearBackward(ops, folded, `${layer}.out`, d), heads, width, extents);
  const parts = attendBackward(ops, shape, kept, da, extents);
  const all = projectBackward(ops, shape, folded, layer, kept, parts, extents, table, gradients);
  const dqkv = byToken(ops, all, heads + 2 * kv_heads, width);
  gradients.matrix(`${layer}.qkv`, take(kept, "y1"), dqkv);
  return linearBackward(ops, folded, `${layer}.qkv`, dqkv);
}
