/** The backward pass by hand: from the gradient by the final states to gradients by the folded matrices. */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { under } from "../devices/runtime.ts";
import { attentionBackward, type Extents } from "./attention.ts";
import { feedForwardBackward } from "./feedForward.ts";
import { surroundings, type Surroundings } from "./forward.ts";
import type { Gradients } from "./linear.ts";
import { afterBackward, beforeBackward } from "./norm.ts";
import { tablePositions } from "./positions.ts";
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
export function embedBackward<T>(
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

/** Gradient by the stream after the last layer from the one by the normalised final state. */
export const finishBackward = <T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  dy: T,
  kept: Named<T>,
  gradients: Gradients<T>,
): T => beforeBackward(ops, shape, folded, "norm", dy, normOf(kept, ""), gradients);

/** Gradient by the stream before a layer from the one after it. */
export function backwardLayer<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  kept: Named<T>,
  after: T,
  { extents, table }: Pick<Surroundings<T>, "extents" | "table">,
  gradients: Gradients<T>,
): T {
  const own = under(kept, `${layer}.`);
  const result = (block: 1 | 2, dx: T): T =>
    residualBackward(ops, shape, folded, layer, block, own, dx, gradients);
  const norm = (block: 1 | 2, dy: T): T =>
    beforeBackward(ops, shape, folded, `${layer}.norm${block}`, dy, normOf(own, block), gradients);
  const dy2 = feedForwardBackward(ops, shape, folded, layer, own, result(2, after), gradients);
  const dx = ops.add(after, norm(2, dy2));
  const turned = table(layer);
  const dy1 = attentionBackward(ops, shape, folded, layer, own, result(1, dx), extents, turned, gradients);
  return ops.add(dx, norm(1, dy1));
}

/**
 * Gradients by the folded matrices but the head. `dy` is the gradient by the normalised final state
 * `[rows · length, width]`, `kept` is what `forward` returned for the same `ids` `[rows, length]`. The embedding's
 * gradient is left out where it does not train.
 */
export function backward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  ids: T,
  rotary: T,
  kept: Named<T>,
  dy: T,
  gradients: Gradients<T>,
  embeddingTrains = true,
): void {
  const around = surroundings(ops, shape, ids, rotary);
  let dx = finishBackward(ops, shape, folded, dy, kept, gradients);
  for (let layer = shape.layers - 1; layer >= 0; layer--)
    dx = backwardLayer(ops, shape, folded, layer, kept, dx, around, gradients);
  if (embeddingTrains) embedBackward(ops, shape, ids, dx, around.extents, gradients);
}
