/**
 * The norms' gains and the attention scale, folded into the matrices they precede: `y·diag(g)·W = y·(diag(g)·W)`. The
 * forward and the backward pass then know neither; gradients are unfolded once at the end, over the weights' size
 * instead of the batch's.
 */
import type { Ops } from "../ops.ts";
import { take, type Named } from "../runtime.ts";
import { headWidth, qkvWidth, type Shape } from "./weights.ts";

/** 1/√(head width) on the query columns of `qkv`, 1 on the others. */
function columnScale<T>(ops: Ops<T>, shape: Shape): T {
  const scale = new Float32Array(qkvWidth(shape)).fill(1);
  scale.fill(1 / Math.sqrt(headWidth(shape)), 0, shape.width);
  return ops.floats(scale, [1, scale.length]);
}

/** What multiplies the columns of a layer's matrix when it is folded, `[1, out]`; undefined: nothing does. */
export const columnFactor = <T>(ops: Ops<T>, shape: Shape, matrix: string): T | undefined =>
  matrix === "qkv" ? columnScale(ops, shape) : undefined;

/** The norm whose gain multiplies the rows of a layer's matrix when it is folded; undefined: none does. */
export const rowGain = (matrix: string): string | undefined =>
  matrix === "qkv" ? "norm1" : matrix === "gate" || matrix === "up" ? "norm2" : undefined;

export const foldedNames = (shape: Shape): string[] => [
  "embedding",
  "head",
  ...Array.from({ length: shape.layers }, (_, layer) =>
    ["qkv", "out", "gate", "up", "down"].map((name) => `${layer}.${name}`),
  ).flat(),
];

/** From weights to the matrices that `forward` multiplies by. */
export function fold<T>(ops: Ops<T>, shape: Shape, weights: Named<T>): Record<string, T> {
  const weight = (name: string): T => take(weights, name);
  const gain = (name: string): T => ops.reshape(weight(name), [shape.width, 1]);
  const folded: Record<string, T> = { embedding: weight("embedding") };
  folded["head"] = ops.mul(
    weight(shape.tied ? "embedding" : "head"),
    ops.reshape(weight("norm"), [1, shape.width]),
  );
  const scale = columnScale(ops, shape);
  for (let layer = 0; layer < shape.layers; layer++) {
    folded[`${layer}.qkv`] = ops.mul(ops.mul(weight(`${layer}.qkv`), gain(`${layer}.norm1`)), scale);
    folded[`${layer}.gate`] = ops.mul(weight(`${layer}.gate`), gain(`${layer}.norm2`));
    folded[`${layer}.up`] = ops.mul(weight(`${layer}.up`), gain(`${layer}.norm2`));
    for (const name of [`${layer}.out`, `${layer}.down`]) folded[name] = weight(name);
  }
  return folded;
}

/** From gradients by the folded matrices to gradients by the weights. */
export function unfold<T>(ops: Ops<T>, shape: Shape, weights: Named<T>, folded: Named<T>): Record<string, T> {
  const weight = (name: string): T => take(weights, name);
  const given = (name: string): T => take(folded, name);
  const gain = (name: string): T => ops.reshape(weight(name), [shape.width, 1]);
  const gradients: Record<string, T> = {};
  const headName = shape.tied ? "embedding" : "head";
  const byHead = ops.mul(given("head"), ops.reshape(weight("norm"), [1, shape.width]));
  gradients["norm"] = ops.sumAxis(ops.mul(given("head"), weight(headName)), 0);
  gradients["embedding"] = shape.tied ? ops.add(given("embedding"), byHead) : given("embedding");
  if (!shape.tied) gradients["head"] = byHead;
  const scale = columnScale(ops, shape);
  for (let layer = 0; layer < shape.layers; layer++) {
    const [qkv, gate, up] = [`${layer}.qkv`, `${layer}.gate`, `${layer}.up`];
    const scaled = ops.mul(given(qkv), scale);
    gradients[qkv] = ops.mul(scaled, gain(`${layer}.norm1`));
    gradients[`${layer}.norm1`] = ops.sumAxis(ops.mul(scaled, weight(qkv)), 1);
    gradients[gate] = ops.mul(given(gate), gain(`${layer}.norm2`));
    gradients[up] = ops.mul(given(up), gain(`${layer}.norm2`));
    gradients[`${layer}.norm2`] = ops.sumAxis(
      ops.add(ops.mul(given(gate), weight(gate)), ops.mul(given(up), weight(up))),
      1,
    );
    for (const name of [`${layer}.out`, `${layer}.down`]) gradients[name] = given(name);
  }
  return gradients;
}
