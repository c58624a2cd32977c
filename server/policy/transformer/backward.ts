/** The backward pass by hand: from the gradient by the logits to gradients by the folded matrices. */
import type { Ops } from "../ops.ts";
import { take, under, type Named } from "../runtime.ts";
import { attentionBackward, type Extents } from "./attention.ts";
import { feedForwardBackward } from "./feedForward.ts";
import { dense, Gradients, type MatrixGradient } from "./linear.ts";
import { afterBackward, beforeBackward } from "./norm.ts";
import { tablePositions, turns } from "./positions.ts";
import type { Shape } from "./weights.ts";

export { dense, type MatrixGradient } from "./linear.ts";

/** Gradient by a block's result, from the gradient by what was added to the stream. */
function residualBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  block: 1 | 2,
  kept: Named<T>,
  dx: T,
  gradients: Gradients<T>,
): T {
  if (!shape.style.post_norms) return dx;
  const normed = { normed: take(kept, `post${block}`), inverse: take(kept, `post_inverse${block}`) };
  return afterBackward(ops, shape, folded, `${layer}.post_norm${block}`, dx, normed, gradients);
}

/** Gradients by embeddings and learned positions. */
function embedBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  ids: T,
  dx: T,
  extents: Extents<T>,
  gradients: Gradients<T>,
): void {
  const { style, width, vocabulary } = shape;
  if (style.positions === "learned") {
    const overRows = ops.sumAxis(ops.reshape(dx, [extents.rows, extents.length, width]), 0);
    gradients.found["positions"] = ops.segmentSum(overRows, ops.range(extents.length), tablePositions(shape));
  }
  const d = style.embedding_scale === 1 ? dx : ops.scale(dx, style.embedding_scale);
  gradients.found["embedding"] = ops.segmentSum(d, ops.reshape(ids, [-1], "int"), vocabulary);
}

/** A norm's kept values by the number that `forward` gave them. */
const normOf = <T>(kept: Named<T>, block: 1 | 2 | ""): { y: T; inverse: T; normed: T | undefined } => ({
  y: take(kept, `y${block}`),
  inverse: take(kept, `inverse${block}`),
  normed: kept[`normed${block}`],
});

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
  const table = turns(ops, shape, rotary, ops.range(extents.length));
  const gradients = new Gradients(ops, folded, matrixGradient);
  const norm = (name: string, dy: T, of: ReturnType<typeof normOf<T>>): T =>
    beforeBackward(ops, shape, folded, name, dy, of, gradients);
  gradients.matrix("head", dLogits, take(kept, "y"));
  let dx = norm("norm", ops.matmul(dLogits, take(folded, "head")), normOf(kept, ""));
  for (let layer = shape.layers - 1; layer >= 0; layer--) {
    const own = under(kept, `${layer}.`);
    const result = (block: 1 | 2): T =>
      residualBackward(ops, shape, folded, layer, block, own, dx, gradients);
    const dy2 = feedForwardBackward(ops, shape, folded, layer, own, result(2), gradients);
    dx = ops.add(dx, norm(`${layer}.norm2`, dy2, normOf(own, 2)));
    const dy1 = attentionBackward(
      ops,
      shape,
      folded,
      layer,
      own,
      result(1),
      extents,
      table(layer),
      gradients,
    );
    dx = ops.add(dx, norm(`${layer}.norm1`, dy1, normOf(own, 1)));
  }
  embedBackward(ops, shape, ids, dx, extents, gradients);
  return gradients.found;
}
