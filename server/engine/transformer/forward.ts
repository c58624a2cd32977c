/** The forward pass over whole rows: what training, scoring and prefill share. Activations are kept for `backward`. */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { prefixed, under } from "../devices/runtime.ts";
import { attend, attendedByHead, project, type Extents } from "./attention.ts";
import { feedForward, feedForwardAgain, feedForwardKept, feedForwardLean } from "./feedForward.ts";
import { linear } from "./linear.ts";
import { after, before, foldsFinalGain, foldsGains } from "./norm.ts";
import { masks, turns } from "./positions.ts";
import { headWidth, qkvWidth, type Shape } from "./weights.ts";

/** Embeddings of tokens, `[tokens, width]`, with learned positions where the model has them. */
export function embed<T>(ops: Ops<T>, shape: Shape, folded: Named<T>, ids: T, extents: Extents<T>): T {
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

/** What the layers of one batch share: where its tokens are. */
export interface Surroundings<T> {
  readonly extents: Extents<T>;
  /** A layer's rotary angles, and its mask. */
  readonly table: (layer: number) => T;
  readonly mask: (layer: number) => T;
}
/** `ids` are `[rows, length]` integers; only their extents count here. */
export function surroundings<T>(ops: Ops<T>, shape: Shape, ids: T, rotary: T): Surroundings<T> {
  const extents = { rows: ops.size(ids, 0, "int"), length: ops.size(ids, 1, "int") };
  const positions = ops.range(extents.length);
  return {
    extents,
    table: turns(ops, shape, rotary, positions),
    mask: masks(ops, shape, positions, extents.length),
  };
}

/** One layer: the stream after it, and what its backward pass needs, as `<layer>.<name>`. */
export function forwardLayer<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  x: T,
  { extents, table, mask }: Surroundings<T>,
): { x: T; kept: Record<string, T> } {
  const first = before(ops, shape, folded, `${layer}.norm1`, x);
  const heads = project(ops, shape, folded, layer, first.y, extents, table(layer));
  const mixed = attend(ops, shape, heads, extents, mask(layer));
  const out = linear(ops, folded, `${layer}.out`, mixed.attended);
  const added1 = residual(ops, shape, folded, layer, 1, out);
  const middle = ops.add(x, added1.result);
  const second = before(ops, shape, folded, `${layer}.norm2`, middle);
  const inner = feedForward(ops, shape, folded, layer, second.y);
  const added2 = residual(ops, shape, folded, layer, 2, inner.result);
  const own: Record<string, T> = {
    ...heads,
    ...mixed,
    ...inner.kept,
    ...added1.kept,
    ...added2.kept,
    ...numbered(first, 1),
    ...numbered(second, 2),
  };
  return { x: ops.add(middle, added2.result), kept: prefixed(`${layer}.`, own) };
}

/** The final norm: the state `y` that the head multiplies, and what its backward pass needs. */
export const finish = <T>(ops: Ops<T>, shape: Shape, folded: Named<T>, x: T): Record<string, T> =>
  numbered(before(ops, shape, folded, "norm", x), "");

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
  const around = surroundings(ops, shape, ids, rotary);
  const all: Record<string, T> = {};
  let x = embed(ops, shape, folded, ids, around.extents);
  for (let layer = 0; layer < shape.layers; layer++) {
    const { x: next, kept } = forwardLayer(ops, shape, folded, layer, x, around);
    Object.assign(all, kept);
    x = next;
  }
  return { ...all, ...finish(ops, shape, folded, x) };
}

/** What is left of a layer's kept values when those are dropped that follow from the others without a product. */
export const lean = <T>(shape: Shape, layer: number, kept: Named<T>): Record<string, T> =>
  Object.fromEntries(Object.keys(leanRanks(shape, layer)).map((name) => [name, take(kept, name)]));
/** The way back. */
export function completed<T>(
  ops: Ops<T>,
  shape: Shape,
  layer: number,
  left: Named<T>,
  { extents }: Pick<Surroundings<T>, "extents">,
): Record<string, T> {
  const own = under(left, `${layer}.`);
  const again = {
    ...feedForwardAgain(ops, shape, own),
    a: attendedByHead(ops, shape, take(own, "attended"), extents),
  };
  return { ...left, ...prefixed(`${layer}.`, again) };
}

const normed = (shape: Shape, block: 1 | 2 | ""): string[] =>
  (block === "" ? foldsFinalGain : foldsGains)(shape) ? [] : [`normed${block}`];

/** Ranks of what one layer keeps, by name: how a later program is fed it. */
function layerRanks(shape: Shape, layer: number): Record<string, number> {
  const { style } = shape;
  const ofTokens = [
    ...["y1", "inverse1", "y2", "inverse2", "attended"],
    ...feedForwardKept(shape),
    ...normed(shape, 1),
    ...normed(shape, 2),
    ...(style.post_norms ? ["post1", "post_inverse1", "post2", "post_inverse2"] : []),
  ];
  const ofHeads = ["q", "k", "v", "a", ...(style.qk_norm ? ["qk_normed", "qk_inverse"] : [])];
  const ranks: Record<string, number> = { p: shape.heads === shape.kv_heads ? 4 : 5 };
  for (const name of ofTokens) ranks[name] = 2;
  for (const name of ofHeads) ranks[name] = 4;
  return prefixed(`${layer}.`, ranks);
}
export function leanRanks(shape: Shape, layer: number): Record<string, number> {
  const [all, few] = [feedForwardKept(shape), feedForwardLean(shape)];
  const dropped = ["a", ...all.filter((name) => !few.includes(name))].map((name) => `${layer}.${name}`);
  return Object.fromEntries(
    Object.entries(layerRanks(shape, layer)).filter(([name]) => !dropped.includes(name)),
  );
}
/** Ranks of what `finish` keeps. */
export const finalRanks = (shape: Shape): Record<string, number> =>
  Object.fromEntries(["y", "inverse", ...normed(shape, "")].map((name) => [name, 2]));
/** Ranks of what `forward` keeps. */
export function keptRanks(shape: Shape): Record<string, number> {
  const layers = Array.from({ length: shape.layers }, (_, layer) => layerRanks(shape, layer));
  return Object.assign(finalRanks(shape), ...layers);
}

/** Floats that one layer keeps per token of a row of this length: the memory prediction of the staged mode. */
function layerFloats(shape: Shape, length: number): number {
  const { style, width, hidden, heads } = shape;
  const norms = (foldsGains(shape) ? 0 : 2 * width) + (style.post_norms ? 2 * width : 0);
  const turned = style.qk_norm ? (heads + shape.kv_heads) * headWidth(shape) : 0;
  return (
    3 * width +
    2 * heads * headWidth(shape) +
    norms +
    turned +
    qkvWidth(shape) +
    feedForwardKept(shape).length * hidden +
    heads * length
  );
}
/** The same of what is left when a layer is kept lean. */
export const leanFloats = (shape: Shape, length: number): number =>
  layerFloats(shape, length) -
  shape.heads * headWidth(shape) -
  (feedForwardKept(shape).length - feedForwardLean(shape).length) * shape.hidden;
/** The same for all layers and the final state. */
export const keptFloats = (shape: Shape, length: number): number =>
  shape.layers * layerFloats(shape, length) + 2 * shape.width;
