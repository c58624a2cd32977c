/** The forward pass over whole rows: what training, scoring and prefill share. Activations are kept for `backward`. */
import type { Ops } from "../ops.ts";
import { take, type Named } from "../runtime.ts";
import { attend, project, type Extents } from "./attention.ts";
import { feedForward, feedForwardKept } from "./feedForward.ts";
import { linear } from "./linear.ts";
import { after, before, foldsGains } from "./norm.ts";
import { masks, turns } from "./positions.ts";
import { headWidth, qkvWidth, type Shape } from "./weights.ts";

/** Embeddings of tokens, `[tokens, width]`, with learned positions where the model has them. */
function embed<T>(ops: Ops<T>, shape: Shape, folded: Named<T>, ids: T, extents: Extents<T>): T {
  const { style, width } = shape;
  const plain = ops.gather(take(folded, "embedding"), ops.reshape(ids, [-1], "int"));
  const x = style.embedding_scale === 1 ? plain : ops.scale(plain, style.embedding_scale);
  if (style.positions === "rotary") return x;
  const learned = ops.gather(take(folded, "positions"), ops.range(extents.length));
  const byRow = ops.reshape(x, [extents.rows, extents.length, width]);
  return ops.reshape(ops.add(byRow, learned), [-1, width]);
}

/** A block's result as it is added to the stream: normed once more by some models. */
export function residual<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  block: 1 | 2,
  result: T,
): { kept: Record<string, T>; result: T } {
  if (!shape.style.post_norms) return { kept: {}, result };
  const { y, normed, inverse } = after(ops, shape, folded, `${layer}.post_norm${block}`, result);
  return { kept: { [`post${block}`]: normed, [`post_inverse${block}`]: inverse }, result: y };
}

/** Names of a norm's kept values, numbered by the block it precedes. */
const numbered = <T>(
  { y, inverse, normed }: { y: T; inverse: T; normed?: T },
  block: 1 | 2 | "",
): Record<string, T> => ({
  [`y${block}`]: y,
  [`inverse${block}`]: inverse,
  ...(normed === undefined ? {} : { [`normed${block}`]: normed }),
});

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
  const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
  const positions = ops.range(extents.length);
  const table = turns(ops, shape, rotary, positions);
  const mask = masks(ops, shape, positions, extents.length);
  const kept: Record<string, T> = {};
  let x = embed(ops, shape, folded, ids, extents);
  for (let layer = 0; layer < shape.layers; layer++) {
    const first = before(ops, shape, folded, `${layer}.norm1`, x);
    const heads = project(ops, shape, folded, layer, first.y, extents, table(layer));
    const mixed = attend(ops, shape, heads, extents, mask(layer));
    const out = linear(ops, folded, `${layer}.out`, mixed.attended);
    const added1 = residual(ops, shape, folded, layer, 1, out);
    x = ops.add(x, added1.result);
    const second = before(ops, shape, folded, `${layer}.norm2`, x);
    const inner = feedForward(ops, shape, folded, layer, second.y);
    const added2 = residual(ops, shape, folded, layer, 2, inner.result);
    x = ops.add(x, added2.result);
    const own: Record<string, T> = {
      ...heads,
      ...mixed,
      ...inner.kept,
      ...added1.kept,
      ...added2.kept,
      ...numbered(first, 1),
      ...numbered(second, 2),
    };
    for (const [name, value] of Object.entries(own)) kept[`${layer}.${name}`] = value;
  }
  return { ...kept, ...numbered(before(ops, shape, folded, "norm", x), "") };
}

/** Ranks of what `forward` keeps, by name: how a later program is fed it. */
export function keptRanks(shape: Shape): Record<string, number> {
  const { style } = shape;
  const normed = (block: 1 | 2 | ""): string[] => (foldsGains(shape) ? [] : [`normed${block}`]);
  const ofTokens = [
    ...["y1", "inverse1", "y2", "inverse2", "attended"],
    ...feedForwardKept(shape),
    ...normed(1),
    ...normed(2),
    ...(style.post_norms ? ["post1", "post_inverse1", "post2", "post_inverse2"] : []),
  ];
  const ofHeads = ["q", "k", "v", "a", ...(style.qk_norm ? ["qk_normed", "qk_inverse"] : [])];
  const attention = shape.heads === shape.kv_heads ? 4 : 5;
  const ranks: Record<string, number> = { y: 2, inverse: 2 };
  for (const name of normed("")) ranks[name] = 2;
  for (let layer = 0; layer < shape.layers; layer++) {
    for (const name of ofTokens) ranks[`${layer}.${name}`] = 2;
    for (const name of ofHeads) ranks[`${layer}.${name}`] = 4;
    ranks[`${layer}.p`] = attention;
  }
  return ranks;
}

/** Floats that `forward` and the head keep per token of a row of this length: the memory prediction of the staged mode. */
export function keptFloats(shape: Shape, length: number): number {
  const { style, width, hidden, heads } = shape;
  const heads2 = 2 * heads * headWidth(shape);
  const norms = (foldsGains(shape) ? 0 : 2 * width) + (style.post_norms ? 2 * width : 0);
  const turned = style.qk_norm ? (heads + shape.kv_heads) * headWidth(shape) : 0;
  const layer =
    3 * width +
    heads2 +
    norms +
    turned +
    qkvWidth(shape) +
    feedForwardKept(shape).length * hidden +
    heads * length;
  return shape.layers * layer + 2 * width + 2 * shape.vocabulary;
}
