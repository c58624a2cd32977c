/** The backward pass by hand: from the gradient by the logits to gradients by the folded matrices. */
import type { Ops } from "../ops.ts";
import { take, under, type Named } from "../runtime.ts";
import { byHead, byToken, headAxes, type Extents } from "./forward.ts";
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

/**
 * Gradients by the folded matrices. `dLogits` is `[rows · length, vocabulary]`, `kept` is what `forward` returned for
 * the same `ids` `[rows, length]`. The head is `[vocabulary, width]`, so its input and gradient change places.
 */
export function backward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  ids: T,
  rotary: T,
  kept: Named<T>,
  dLogits: T,
  matrixGradient: MatrixGradient<T> = dense(ops),
): Record<string, T> {
  const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
  const { heads, kv_heads } = shape;
  const width = headWidth(shape);
  const table = ops.gather(rotary, ops.range(extents.length));
  const gradients: Record<string, T> = { ...matrixGradient("head", dLogits, take(kept, "y")) };
  let dx = rmsBackward(
    ops,
    ops.matmul(dLogits, take(folded, "head")),
    take(kept, "y"),
    take(kept, "inverse"),
  );
  for (let layer = shape.layers - 1; layer >= 0; layer--) {
    const own = under(kept, `${layer}.`);
    dx = feedForwardBackward(ops, layer, folded, own, dx, gradients, matrixGradient);
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
    dx = ops.add(dx, rmsBackward(ops, dy, take(own, "y1"), take(own, "inverse1")));
  }
  gradients["embedding"] = ops.segmentSum(dx, ops.reshape(ids, [-1], "int"), shape.vocabulary);
  return gradients;
}
