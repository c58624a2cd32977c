/**
 * The RMS norms' gains and the attention scale, folded into the matrices they precede: `y·diag(g)·W = y·(diag(g)·W)`.
 * The forward and the backward pass then know neither; gradients are unfolded once at the end, over the weights' size
 * instead of the batch's. Everything folded is a matrix: vectors become rows `[1, n]`.
 */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { foldsFinalGain, foldsGains } from "./norm.ts";
import { tablePositions } from "./positions.ts";
import { headWidth, qkvWidth, weightShapes, type Shape } from "./weights.ts";

const layersOf = (shape: Shape): number[] => Array.from({ length: shape.layers }, (_, layer) => layer);

/** Vectors of the model that become rows: gains that no matrix takes up, and biases. */
function rowNames(shape: Shape): string[] {
  const { style } = shape;
  const norm = (name: string): string[] => (style.norm === "layer" ? [name, `${name}_bias`] : [name]);
  const layer = [
    ...(style.bias.qkv ? ["qkv_bias"] : []),
    ...(style.bias.out ? ["out_bias"] : []),
    ...(style.bias.feed_forward ? ["up_bias", "down_bias"] : []),
    ...(foldsGains(shape) ? [] : [...norm("norm1"), ...norm("norm2")]),
    ...(style.post_norms ? [...norm("post_norm1"), ...norm("post_norm2")] : []),
  ];
  return [
    ...(foldsFinalGain(shape) ? [] : norm("norm")),
    ...layersOf(shape).flatMap((number) => layer.map((name) => `${number}.${name}`)),
  ];
}

/** The matrices that `fold` gives, by name, in a fixed order. */
export function foldedNames(shape: Shape): string[] {
  const { style } = shape;
  const layer = ["qkv", "out", ...(style.gated ? ["gate"] : []), "up", "down"];
  if (style.qk_norm) layer.push("qk_norm");
  return [
    "embedding",
    "head",
    ...layersOf(shape).flatMap((number) => layer.map((name) => `${number}.${name}`)),
    ...(style.positions === "learned" ? ["positions"] : []),
    ...rowNames(shape),
  ];
}

/** The norm whose gain multiplies the rows of a layer's matrix when it is folded; undefined: none does. */
export function rowGain(shape: Shape, matrix: string): string | undefined {
  if (!foldsGains(shape)) return undefined;
  return matrix === "qkv" ? "norm1" : matrix === "gate" || matrix === "up" ? "norm2" : undefined;
}
/** What multiplies the columns of a layer's matrix when it is folded, `[1, out]`; undefined: nothing does. */
export const columnFactor = <T>(ops: Ops<T>, shape: Shape, matrix: string): T | undefined =>
  // With norms on queries the scale goes into their gain instead.
  matrix === "qkv" && !shape.style.qk_norm ? columnScale(ops, shape) : undefined;

/** The query scale on the query columns of `qkv`, 1 on the others. */
function columnScale<T>(ops: Ops<T>, shape: Shape): T {
  const scale = new Float32Array(qkvWidth(shape)).fill(1);
  scale.fill(shape.style.query_scale, 0, shape.heads * headWidth(shape));
  return ops.floats(scale, [1, scale.length]);
}

/** What folding and unfolding ask of the weights. */
function readers<T>(ops: Ops<T>, shape: Shape, weights: Named<T>) {
  const { style, heads, kv_heads, width } = shape;
  const head = headWidth(shape);
  const weight = (name: string): T => take(weights, name);
  let columns: T | undefined;
  const stored = (name: string, extents: readonly number[]): T => {
    const gain = ops.reshape(weight(name), extents);
    return style.gain_offset === 0 ? gain : ops.shift(gain, style.gain_offset);
  };
  return {
    weight,
    /** As a column, for the matrix `[in, out]` after the norm. */
    column: (name: string): T => stored(name, [width, 1]),
    row: (name: string): T => stored(name, [1, width]),
    columns: (): T | undefined => (columns ??= columnFactor(ops, shape, "qkv")),
    queryGain: (name: string): T => ops.scale(stored(name, [1, head]), style.query_scale),
    keyGain: (name: string): T => stored(name, [1, head]),
    /** `[heads, 1]`: repeats a gain for every head. */
    queries: (): T => ops.floats(new Float32Array(heads).fill(1), [heads, 1]),
    keys: (): T => ops.floats(new Float32Array(kv_heads).fill(1), [kv_heads, 1]),
  };
}

const scaled = <T>(ops: Ops<T>, x: T, by: T | undefined): T => (by === undefined ? x : ops.mul(x, by));
const isGain = (name: string): boolean => /norm[12]?$/.test(name);

/** A name without its layer, and how that layer's other names begin. */
function ownName(name: string): { readonly own: string; readonly layer: string } {
  const own = name.slice(name.indexOf(".") + 1);
  return { own, layer: name.slice(0, name.length - own.length) };
}

/** The weights that a folded matrix is made of; where it is one of them unchanged (as a row, if a vector), `plain`. */
export function foldSources(
  shape: Shape,
  name: string,
): { readonly names: readonly string[]; readonly plain: boolean } {
  const { style } = shape;
  const { own, layer } = ownName(name);
  if (name === "head") {
    const matrix = shape.tied ? "embedding" : "head";
    return foldsFinalGain(shape)
      ? { names: [matrix, "norm"], plain: false }
      : { names: [matrix], plain: true };
  }
  if (own === "qk_norm") return { names: [`${layer}q_norm`, `${layer}k_norm`], plain: false };
  const gain = rowGain(shape, own);
  const changed =
    gain !== undefined ||
    own === "positions" ||
    ((own === "qkv" || own === "qkv_bias") && !style.qk_norm) ||
    (isGain(own) && style.gain_offset !== 0);
  return { names: gain === undefined ? [name] : [name, layer + gain], plain: !changed };
}

/** One of the matrices that `forward` multiplies by, from the weights that `foldSources` names. */
function foldOne<T>(ops: Ops<T>, shape: Shape, read: ReturnType<typeof readers<T>>, name: string): T {
  const { own, layer } = ownName(name);
  const [matrix = name] = foldSources(shape, name).names;
  if (name === "head")
    return foldsFinalGain(shape) ? ops.mul(read.weight(matrix), read.row("norm")) : read.weight(matrix);
  if (own === "qk_norm") {
    const queries = ops.mul(read.queries(), read.queryGain(`${layer}q_norm`));
    const keys = ops.mul(read.keys(), read.keyGain(`${layer}k_norm`));
    return ops.concat([queries, keys], 0);
  }
  if (own === "positions") {
    const room = ops.zeros([tablePositions(shape) - shape.context, shape.width]);
    return ops.concat([read.weight(name), room], 0);
  }
  if (isGain(own)) return read.row(name);
  if (own.endsWith("_bias")) {
    const row = ops.reshape(read.weight(name), [1, -1]);
    return own === "qkv_bias" ? scaled(ops, row, read.columns()) : row;
  }
  const gain = rowGain(shape, own);
  const rows = gain === undefined ? read.weight(name) : ops.mul(read.weight(name), read.column(layer + gain));
  return own === "qkv" ? scaled(ops, rows, read.columns()) : rows;
}
export const foldMatrix = <T>(ops: Ops<T>, shape: Shape, weights: Named<T>, name: string): T =>
  foldOne(ops, shape, readers(ops, shape, weights), name);

/** From weights to the matrices that `forward` multiplies by. */
export function fold<T>(ops: Ops<T>, shape: Shape, weights: Named<T>): Record<string, T> {
  const read = readers(ops, shape, weights);
  return Object.fromEntries(foldedNames(shape).map((name) => [name, foldOne(ops, shape, read, name)]));
}

/** From gradients by the folded matrices to gradients by the weights. */
export function unfold<T>(ops: Ops<T>, shape: Shape, weights: Named<T>, folded: Named<T>): Record<string, T> {
  const { weight, column, row, columns: scales } = readers(ops, shape, weights);
  const columns = scales();
  const { heads, kv_heads, style } = shape;
  const given = (name: string): T => take(folded, name);
  const folds = foldsGains(shape);
  const gradients: Record<string, T> = {};
  const headName = shape.tied ? "embedding" : "head";
  const foldsFinal = foldsFinalGain(shape);
  const byHead = foldsFinal ? ops.mul(given("head"), row("norm")) : given("head");
  if (foldsFinal) gradients["norm"] = ops.sumAxis(ops.mul(given("head"), weight(headName)), 0);
  gradients["embedding"] = shape.tied ? ops.add(given("embedding"), byHead) : given("embedding");
  if (!shape.tied) gradients["head"] = byHead;
  for (const layer of layersOf(shape)) {
    const own = (name: string): string => `${layer}.${name}`;
    const unfold = (norm: string, byName: Named<T>): void => {
      for (const [name, d] of Object.entries(byName))
        gradients[own(name)] = folds ? ops.mul(d, column(own(norm))) : d;
      if (!folds) return;
      const byGain = Object.entries(byName).map(([name, d]) => ops.mul(d, weight(own(name))));
      gradients[own(norm)] = ops.sumAxis(ops.addAll(byGain), 1);
    };
    unfold("norm1", { qkv: scaled(ops, given(own("qkv")), columns) });
    const up = { up: given(own("up")) };
    unfold("norm2", style.gated ? { gate: given(own("gate")), ...up } : up);
    for (const name of ["out", "down"]) gradients[own(name)] = given(own(name));
    if (style.qk_norm) {
      const [queries, keys] = ops.split(given(own("qk_norm")), [heads, kv_heads], 0);
      gradients[own("q_norm")] = ops.scale(ops.sumAxis(queries!, 0), style.query_scale);
      gradients[own("k_norm")] = ops.sumAxis(keys!, 0);
    }
  }
  if (style.positions === "learned") {
    const parts = [shape.context, tablePositions(shape) - shape.context];
    gradients["positions"] = ops.split(given("positions"), parts, 0)[0]!;
  }
  for (const name of rowNames(shape)) {
    const d = name.endsWith(".qkv_bias") ? scaled(ops, given(name), columns) : given(name);
    gradients[name] = ops.reshape(d, [-1]);
  }
  return gradients;
}

/** Extents of the folded matrices by name. */
export function foldedShapes(shape: Shape): Record<string, readonly [number, number]> {
  const weights = weightShapes(shape);
  const extents = (name: string): readonly [number, number] => {
    if (name === "head") return [shape.vocabulary, shape.width];
    if (name === "positions") return [tablePositions(shape), shape.width];
    if (name.endsWith(".qk_norm")) return [shape.heads + shape.kv_heads, headWidth(shape)];
    const [rows = 1, columns] = weights[name] ?? [];
    return columns === undefined ? [1, rows] : [rows, columns];
  };
  return Object.fromEntries(foldedNames(shape).map((name) => [name, extents(name)]));
}
