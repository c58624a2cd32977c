/**
 * The operations the model is written in: few enough that each runtime implements all of them by hand. Extents known
 * only when a program runs are `Dim`s that the runtime itself made (`size`, `dim`), so one program serves every batch
 * size and length.
 */

export type Dim<T> = number | T;

export interface Ops<T> {
  // ── making
  floats(data: Float32Array, shape: readonly number[]): T;
  /** 0, 1, … n − 1 as integers. */
  range(n: Dim<T>): T;
  zeros(shape: readonly Dim<T>[]): T;
  /**
   * `[rows, columns]`: 0 with probability `rate`, else 1 / (1 − rate). The same for equal `seed` (two integers), `salt` and
   * extents on one runtime.
   */
  dropoutMask(rows: Dim<T>, columns: number, rate: number, seed: T, salt: number): T;

  // ── shapes
  size(x: T, axis: number, dtype?: "float" | "int"): Dim<T>;
  /** A fed integer scalar, as an extent. */
  dim(x: T): Dim<T>;
  /** At most one −1. Keeps the element type. */
  reshape(x: T, shape: readonly Dim<T>[], dtype?: "float" | "int"): T;
  transpose(x: T, order: readonly number[]): T;
  concat(xs: readonly T[], axis: number): T;
  /** Pieces of the given extents. */
  split(x: T, extents: readonly number[], axis: number, dtype?: "float" | "int"): T[];

  // ── looking up
  /** Rows of `table` (axis 0) by integer index. */
  gather(table: T, index: T): T;
  /** Sums rows of `x` into `segments` rows by index: the gradient of `gather`. `index` is flat. */
  segmentSum(x: T, index: T, segments: number): T;
  /** `x[i, index[i]]` for a matrix. */
  pick(x: T, index: T): T;
  /** `cache` with `rows[i]` replaced by `values[i]`; the cache must not be used any more. */
  writeRows(cache: T, rows: T, values: T): T;

  // ── products
  matmul(a: T, b: T, transposeA?: boolean, transposeB?: boolean): T;
  /** Products of the last two axes; leading axes broadcast. */
  batchMatmul(a: T, b: T, transposeA?: boolean, transposeB?: boolean): T;

  /** The same for few rows a product (a decoding step), with equal leading axes. */
  batchMatmulThin(a: T, b: T, transposeB: boolean): T;

  // ── element by element, with broadcasting
  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  addAll(xs: readonly T[]): T;
  scale(x: T, by: number): T;
  shift(x: T, by: number): T;
  neg(x: T): T;
  exp(x: T): T;
  log(x: T): T;
  square(x: T): T;
  sqrt(x: T): T;
  rsqrt(x: T): T;
  /** −1, 0 or 1. */
  sign(x: T): T;
  sigmoid(x: T): T;
  /** dy · s · (1 − s) for s = sigmoid(x). */
  sigmoidGradient(s: T, dy: T): T;
  minimum(a: T, b: T): T;
  maximum(a: T, b: T): T;
  /** Integers as floats. */
  toFloat(x: T): T;

  // ── along the last axis, kept as extent 1
  sum(x: T): T;
  mean(x: T): T;
  max(x: T): T;
  softmax(x: T): T;
  /** Index of the largest, last axis dropped; integers. */
  argmax(x: T): T;
  /** Exclusive: of what is in front of an entry. */
  cumsum(x: T, exclusive?: boolean): T;
  /** How many entries of a row are ≤ the bound `[rows, 1]`; integers, last axis dropped. */
  countUpTo(x: T, bound: T): T;
  /** Index of the last entry of an ascending row that is below the bound `[rows, 1]`, at least 0; last axis dropped. */
  lastBelow(x: T, bound: T): T;
  /** The k largest entries of each row in descending order, equal ones by their index, and their indices (integers). */
  topK(x: T, k: Dim<T>): [T, T];
  /** 1 where an entry is above the cut `[rows, 1]`, or equal to it in a column up to `column` (floats `[rows, 1]`); else 0. */
  keepFrom(x: T, cut: T, column: T): T;
  /** 1 where an entry is at least the bound, which broadcasts; else 0. */
  atLeast(x: T, bound: T): T;
  /** Sum along one axis; dropped unless kept. */
  sumAxis(x: T, axis: number, keep?: boolean): T;
  sumEverything(x: T): T;

  // ── made for transformers
  /** [rows, n]: 0 where the column is ≤ the row's position and, with a window, > position − window; −1e9 elsewhere. */
  futureMask(positions: T, n: Dim<T>, window?: number): T;
  /** Turns each pair (x[2i], x[2i+1]) of the last axis by its angle; table `[…, pairs, 2]` holds cos, sin. */
  rotate(x: T, shape: readonly Dim<T>[], table: T, inverse: boolean): T;
  /** [−log p(target), softmax − onehot(target)] of each row of logits. */
  crossEntropy(logits: T, target: T): [T, T];
}

/** Names of values: feeds of a program, its results, the weights of a model. */
export type Named<T> = Readonly<Record<string, T>>;

/** A result of a program, by the name its `build` gave it. */
export function take<T>(values: Named<T>, name: string): T {
  const value = values[name];
  if (value === undefined) throw new Error(`internal: no value named ${name}`);
  return value;
}

export const countOf = (shape: readonly number[]): number =>
  shape.reduce((product, extent) => product * extent, 1);
