/**
 * The weights of a Llama-style decoder and how they begin.
 *
 * Matrices are `[in, out]`, so a row of activations times a matrix is a row. `qkv` holds the heads side by side:
 * queries, keys, values; inside a query or key head the two halves of a rotary pair lie next to each other, which
 * makes the rotation one complex product. Checkpoints undo both (see checkpoint.ts).
 */
import type { Named } from "../runtime.ts";
import { Stream } from "../random.ts";

export interface Shape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kv_heads: number;
  readonly hidden: number;
  readonly context: number;
  readonly tied: boolean;
  readonly rope_theta: number;
  readonly epsilon: number;
}

export const headWidth = (shape: Shape): number => shape.width / shape.heads;
/** Queries, keys and values of one token. */
export const qkvWidth = (shape: Shape): number => (shape.heads + 2 * shape.kv_heads) * headWidth(shape);

/** The extents of every weight by name, in a fixed order. */
export function weightShapes(shape: Shape): Named<readonly number[]> {
  const { vocabulary, width, hidden } = shape;
  const shapes: Record<string, readonly number[]> = { embedding: [vocabulary, width] };
  for (let layer = 0; layer < shape.layers; layer++) {
    Object.assign(shapes, {
      [`${layer}.norm1`]: [width],
      [`${layer}.qkv`]: [width, qkvWidth(shape)],
      [`${layer}.out`]: [width, width],
      [`${layer}.norm2`]: [width],
      [`${layer}.gate`]: [width, hidden],
      [`${layer}.up`]: [width, hidden],
      [`${layer}.down`]: [hidden, width],
    });
  }
  shapes["norm"] = [width];
  if (!shape.tied) shapes["head"] = [vocabulary, width];
  return shapes;
}

export const countOf = (shape: readonly number[]): number =>
  shape.reduce((product, extent) => product * extent, 1);
export const parameterCount = (shape: Shape): number =>
  Object.values(weightShapes(shape)).reduce((total, extents) => total + countOf(extents), 0);

/** Gains are 1, the rest normal with deviation 0.02; what feeds the residual stream is smaller, by 1/√(2·layers) (GPT-2). */
export function initialWeights(shape: Shape, seed: number): Record<string, Float32Array> {
  const weights: Record<string, Float32Array> = {};
  for (const [name, extents] of Object.entries(weightShapes(shape))) {
    const values = new Float32Array(countOf(extents));
    if (extents.length === 1) values.fill(1);
    else {
      const residual = name.endsWith(".out") || name.endsWith(".down");
      const deviation = 0.02 / (residual ? Math.sqrt(2 * shape.layers) : 1);
      const random = new Stream(seed, "weights", name);
      for (let i = 0; i < values.length; i++) values[i] = deviation * random.normal();
    }
    weights[name] = values;
  }
  return weights;
}

/** cos and sin of every position and pair, `[positions, head width / 2, 2]` (RoFormer, with Llama's frequencies). */
export function rotaryTable(shape: Shape, positions: number): Float32Array {
  const pairs = headWidth(shape) / 2;
  const table = new Float32Array(positions * pairs * 2);
  for (let position = 0; position < positions; position++) {
    for (let pair = 0; pair < pairs; pair++) {
      const angle = position * shape.rope_theta ** (-pair / pairs);
      table[(position * pairs + pair) * 2] = Math.cos(angle);
      table[(position * pairs + pair) * 2 + 1] = Math.sin(angle);
    }
  }
  return table;
}
