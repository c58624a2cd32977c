/** The backward pass by hand: from the gradient by the logits to gradients by the folded matrices. */
import type { Ops } from "../ops.ts";
import { take, under, type Named } from "../runtime.ts";
import { byHead, byToken, headAxes, surroundings, type Extents, type Surroundings } from "./forward.ts";
import { headWidth, type Shape } from "./weights.ts";

/**
 * Gradients by one matrix `[in, out]` from its input `[tokens, in]` and the gradient by its output `[tokens, out]`,
 * under the names they are to have: none where the matrix is frozen, two where it is a low-rank sum.
 */
export type MatrixGradient<T> = (name: string, input: T, dz: T) => Named<T>;
/** The whole matrix. */
export const dense =
  <T>(ops: Ops<T>): MatrixGradient<T> =>
  (name, input, dz) => ({ [name]: ops.matmul(input, dz, true) });

/** dx = inverse · (dy − y · mean(dy · y)). */
function rmsBackward<T>(ops: Ops<T>, dy: T, y: T, inverse: T): T {
  return ops.mul(ops.sub(dy, ops.mul(y, ops.mean(ops.mul(dy, y)))), inverse);
}

/** Gradient by x of one feed-forward block; its matrices' gradients go into `gradients`. */
function feedForwardBackward<T>(
  ops: Ops<T>,
  layer: number,
  folded: Named<T>,
  kept: Named<T>,
  dx: T,
  gradients: Record<string, T>,
  matrixGradient: MatrixGradient<T>,
): T {
  const keep = (name: string): T => take(kept, name);
  Object.assign(gradients, matrixGradient(`${layer}.down`, keep("hidden"), dx));
  const dHidden = ops.matmul(dx, take(folded, `${layer}.down`), false, true);
  const dUp = ops.mul(dHidden, keep("silu"));
  const dSilu = ops.mul(dHidden, keep("up"));
  const dGate = ops.add(
    ops.mul(dSilu, keep("sigmoid")),
    ops.sigmoidGradient(keep("sigmoid"), ops.mul(dSilu, keep("gate"))),
  );
  Object.assign(gradients, matrixGradient(`${layer}.gate`, keep("y2"), dGate));
  Object.assign(gradients, matrixGradient(`${layer}.up`, keep("y2"), dUp));
  const dy = ops.add(
    ops.matmul(dGate, take(folded, `${layer}.gate`), false, true),
    ops.matmul(dUp, take(folded, `${layer}.up`), false, true),
  );
  return ops.add(dx, rmsBackward(ops, dy, keep("y2"), keep("inverse2")));
}

/** Gradients by rotated queries and keys and by values. dS = P ∘ (dA·Vᵀ − rowsum(dA ∘ A)). */
function attentionBackward<T>(
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

/** Gradient by the stream before a layer from the one after it; the matrices' gradients go into `gradients`. */
export function backwardLayer<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  kept: Named<T>,
  after: T,
  { extents, table }: Pick<Surroundings<T>, "extents" | "table">,
  gradients: Record<string, T>,
  matrixGradient: MatrixGradient<T>,
): T {
  const { heads, kv_heads } = shape;
  const width = headWidth(shape);
  const own = under(kept, `${layer}.`);
  const dx = feedForwardBackward(ops, layer, folded, own, after, gradients, matrixGradient);
  Object.assign(gradients, matrixGradient(`${layer}.out`, take(own, "attended"), dx));
  const da = byHead(ops, ops.matmul(dx, take(folded, `${layer}.out`), false, true), heads, width, extents);
  const { dq, dk, dv } = attentionBackward(ops, shape, own, da, extents);
  const turnBack = (x: T, count: number): T =>
    ops.rotate(x, [count, extents.rows, extents.length, width], table, true);
  const dqkv = byToken(
    ops,
    ops.concat([turnBack(dq, heads), turnBack(dk, kv_heads), dv], 0),
    heads + 2 * kv_heads,
    width,
  );
  Object.assign(gradients, matrixGradient(`${layer}.qkv`, take(own, "y1"), dqkv));
  const dy = ops.matmul(dqkv, take(folded, `${layer}.qkv`), false, true);
  return ops.add(dx, rmsBackward(ops, dy, take(own, "y1"), take(own, "inverse1")));
}

/** Gradient by the stream after the last layer from the one by the normalised final state. */
export function finalBackward<T>(ops: Ops<T>, dy: T, kept: Named<T>): T {
  return rmsBackward(ops, dy, take(kept, "y"), take(kept, "inverse"));
}

/** Gradient by the embedding's rows. */
export function embeddingBackward<T>(ops: Ops<T>, shape: Shape, dx: T, ids: T): Record<string, T> {
  return { embedding: ops.segmentSum(dx, ops.reshape(ids, [-1], "int"), shape.vocabulary) };
}

/**
 * Gradients by the folded matrices but the head. `dy` is the gradient by the normalised final state
 * `[rows · length, width]`, `kept` is what `forward` returned for the same `ids` `[rows, length]`.
 */
export function backward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  ids: T,
  rotary: T,
  kept: Named<T>,
  dy: T,
  matrixGradient: MatrixGradient<T> = dense(ops),
  embeddingTrains = true,
): Record<string, T> {
  const around = surroundings(ops, ids, rotary);
  const gradients: Record<string, T> = {};
  let dx = finalBackward(ops, dy, kept);
  for (let layer = shape.layers - 1; layer >= 0; layer--)
    dx = backwardLayer(ops, shape, folded, layer, kept, dx, around, gradients, matrixGradient);
  return embeddingTrains ? { ...gradients, ...embeddingBackward(ops, shape, dx, ids) } : gradients;
}
