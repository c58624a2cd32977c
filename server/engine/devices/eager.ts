/** Carries the policy's operations out one by one with tfjs-core's kernels: what WebAssembly and WebGPU have. */
import type { Tensor, Tensor1D, Tensor2D } from "@tensorflow/tfjs-core";
import type * as tfjs from "@tensorflow/tfjs-core";
import type { Dim, Ops } from "../../core/ops.ts";
import { Stream } from "../random.ts";

export type Core = typeof tfjs;

const known = (dim: Dim<Tensor>): number => {
  if (typeof dim === "number") return dim;
  throw new Error("internal: an extent must be a number here");
};

/** Values are tfjs tensors; the caller runs everything inside a scope that frees what it does not keep. */
export class EagerOps implements Ops<Tensor> {
  constructor(
    private readonly tf: Core,
    /** Which kernels the backend has that another may lack (see `missingKernels`). */
    private readonly has: { readonly segmentSum: boolean },
  ) {}

  // ── making
  floats(data: Float32Array, shape: readonly number[]): Tensor {
    return this.tf.tensor(data, [...shape], "float32");
  }
  range(n: Dim<Tensor>): Tensor {
    return this.tf.tensor1d(
      Int32Array.from({ length: known(n) }, (_, i) => i),
      "int32",
    );
  }
  zeros(shape: readonly Dim<Tensor>[]): Tensor {
    const extents = shape.map(known);
    return this.tf.tensor(new Float32Array(extents.reduce((n, extent) => n * extent, 1)), extents, "float32");
  }

  dropoutMask(rows: Dim<Tensor>, columns: number, rate: number, seed: Tensor, salt: number): Tensor {
    const [first = 0, second = 0] = seed.dataSync();
    const random = new Stream(first, second + salt);
    const values = new Float32Array(known(rows) * columns);
    for (let i = 0; i < values.length; i++) values[i] = random.next() < rate ? 0 : 1 / (1 - rate);
    return this.tf.tensor2d(values, [known(rows), columns]);
  }

  // ── shapes
  size(x: Tensor, axis: number): Dim<Tensor> {
    return x.shape[axis] ?? 0;
  }
  dim(x: Tensor): Dim<Tensor> {
    return x.dataSync()[0] ?? 0;
  }
  reshape(x: Tensor, shape: readonly Dim<Tensor>[]): Tensor {
    return this.tf.reshape(x, shape.map(known));
  }
  transpose(x: Tensor, order: readonly number[]): Tensor {
    return this.tf.transpose(x, [...order]);
  }
  concat(xs: readonly Tensor[], axis: number): Tensor {
    const full = xs.filter((x) => x.size > 0);
    return full.length === 1 ? full[0]!.clone() : this.tf.concat(full, axis);
  }
  split(x: Tensor, extents: readonly number[], axis: number): Tensor[] {
    return this.tf.split(x, [...extents], axis);
  }

  // ── looking up
  gather(table: Tensor, index: Tensor): Tensor {
    return this.tf.gather(table, index);
  }
  segmentSum(x: Tensor, index: Tensor, segments: number): Tensor {
    if (this.has.segmentSum) return this.tf.unsortedSegmentSum(x, index as Tensor1D, segments);
    return this.tf.scatterND(this.tf.reshape(index, [-1, 1]), x, [segments, ...x.shape.slice(1)]);
  }
  private oneHot(index: Tensor, depth: number): Tensor {
    // WebAssembly's kernel makes integers, whatever is asked for.
    return this.tf.cast(this.tf.oneHot(index, depth, 1, 0, "int32"), "float32");
  }
  /** Indices stay on the device: reading them here would wait for it. */
  pick(x: Tensor, index: Tensor): Tensor {
    const [rows = 0, columns = 0] = x.shape;
    const start = this.tf.tensor1d(
      Int32Array.from({ length: rows }, (_, row) => row * columns),
      "int32",
    );
    return this.tf.gather(this.tf.reshape(x, [-1]), this.tf.add(start, index));
  }
  writeRows(cache: Tensor, rows: Tensor, values: Tensor): Tensor {
    return this.tf.tensorScatterUpdate(cache, this.tf.reshape(rows, [-1, 1]), values);
  }

  // ── products
  matmul(a: Tensor, b: Tensor, transposeA = false, transposeB = false): Tensor {
    return this.tf.matMul(a, b, transposeA, transposeB);
  }
  /** The kernel pairs leading axes by their flat number: unequal ones are repeated first. */
  batchMatmul(a: Tensor, b: Tensor, transposeA = false, transposeB = false): Tensor {
    const rank = a.rank;
    const leading = Array.from({ length: rank - 2 }, (_, axis) => Math.max(a.shape[axis]!, b.shape[axis]!));
    const spread = (x: Tensor): Tensor => {
      const times = leading.map((extent, axis) => extent / x.shape[axis]!);
      return times.every((time) => time === 1) ? x : this.repeat(x, times);
    };
    const flat = (x: Tensor): Tensor =>
      this.tf.reshape(spread(x), [-1, x.shape[rank - 2]!, x.shape[rank - 1]!]);
    const product = this.tf.matMul(flat(a), flat(b), transposeA, transposeB);
    return this.tf.reshape(product, [...leading, product.shape[1]!, product.shape[2]!]);
  }
  /** Only axes of extent 1 are repeated, by concatenation: the tile kernel stops at rank 4. */
  private repeat(x: Tensor, times: readonly number[]): Tensor {
    let result = x;
    times.forEach((time, axis) => {
      if (time > 1)
        result = this.tf.concat(
          Array.from({ length: time }, () => result),
          axis,
        );
    });
    return result;
  }
  batchMatmulThin(a: Tensor, b: Tensor, transposeB: boolean): Tensor {
    return this.batchMatmul(a, b, false, transposeB);
  }

  // ── element by element
  add = (a: Tensor, b: Tensor): Tensor => this.tf.add(a, b);
  sub = (a: Tensor, b: Tensor): Tensor => this.tf.sub(a, b);
  mul = (a: Tensor, b: Tensor): Tensor => this.tf.mul(a, b);
  div = (a: Tensor, b: Tensor): Tensor => this.tf.div(a, b);
  minimum = (a: Tensor, b: Tensor): Tensor => this.tf.minimum(a, b);
  maximum = (a: Tensor, b: Tensor): Tensor => this.tf.maximum(a, b);
  /** Two by two: a WebGPU kernel takes few inputs. */
  addAll = (xs: readonly Tensor[]): Tensor => xs.reduce((sum, x) => this.tf.add(sum, x));
  scale = (x: Tensor, by: number): Tensor => this.tf.mul(x, by);
  shift = (x: Tensor, by: number): Tensor => this.tf.add(x, by);
  neg = (x: Tensor): Tensor => this.tf.neg(x);
  exp = (x: Tensor): Tensor => this.tf.exp(x);
  log = (x: Tensor): Tensor => this.tf.log(x);
  square = (x: Tensor): Tensor => this.tf.square(x);
  sqrt = (x: Tensor): Tensor => this.tf.sqrt(x);
  rsqrt = (x: Tensor): Tensor => this.tf.rsqrt(x);
  sign = (x: Tensor): Tensor => this.tf.sign(x);
  sigmoid = (x: Tensor): Tensor => this.tf.sigmoid(x);
  sigmoidGradient = (s: Tensor, dy: Tensor): Tensor => this.tf.mul(dy, this.tf.mul(s, this.tf.sub(1, s)));
  toFloat = (x: Tensor): Tensor => this.tf.cast(x, "float32");

  // ── along the last axis
  sum = (x: Tensor): Tensor => this.tf.sum(x, -1, true);
  mean = (x: Tensor): Tensor => this.tf.mean(x, -1, true);
  max = (x: Tensor): Tensor => this.tf.max(x, -1, true);
  softmax = (x: Tensor): Tensor =>
    this.tf.reshape(this.tf.softmax(this.tf.reshape(x, [-1, x.shape.at(-1)!])), x.shape);
  argmax = (x: Tensor): Tensor => this.tf.argMax(x, -1);
  cumsum = (x: Tensor, exclusive = false): Tensor => this.tf.cumsum(x, 1, exclusive);
  sumAxis = (x: Tensor, axis: number, keep = false): Tensor => this.tf.sum(x, axis, keep);
  sumEverything = (x: Tensor): Tensor => this.tf.sum(x);
  countUpTo(x: Tensor, bound: Tensor): Tensor {
    return this.tf.cast(this.tf.sum(this.tf.cast(this.tf.lessEqual(x, bound), "float32"), -1), "int32");
  }
  lastBelow(x: Tensor, bound: Tensor): Tensor {
    const count = this.tf.sum(this.tf.cast(this.tf.less(x, bound), "float32"), -1);
    return this.tf.cast(this.tf.maximum(this.tf.sub(count, 1), 0), "int32");
  }
  topK(x: Tensor, k: Dim<Tensor>): [Tensor, Tensor] {
    const { values, indices } = this.tf.topk(x, known(k), true);
    return [values, indices];
  }
  keepFrom(x: Tensor, cut: Tensor, column: Tensor): Tensor {
    const columns = this.toFloat(this.range(x.shape.at(-1)!));
    const early = this.toFloat(this.tf.lessEqual(columns, column));
    const tied = this.tf.mul(this.toFloat(this.tf.equal(x, cut)), early);
    return this.tf.maximum(this.toFloat(this.tf.greater(x, cut)), tied);
  }
  atLeast = (x: Tensor, bound: Tensor): Tensor => this.toFloat(this.tf.greaterEqual(x, bound));

  // ── made for transformers
  futureMask(positions: Tensor, n: Dim<Tensor>, window?: number): Tensor {
    const row = this.toFloat(this.range(n));
    const column = this.tf.reshape(this.toFloat(positions), [-1, 1]);
    const hidden = (truth: Tensor): Tensor => this.tf.mul(this.toFloat(truth), -1e9);
    const future = hidden(this.tf.greater(row, column));
    if (window === undefined) return future;
    return this.tf.add(future, hidden(this.tf.lessEqual(row, this.tf.sub(column, window))));
  }
  /** (a, b) → (a·cos − b·sin, a·sin + b·cos). */
  rotate(x: Tensor, shape: readonly Dim<Tensor>[], table: Tensor, inverse: boolean): Tensor {
    const extents = shape.map(known);
    const pairs = extents.at(-1)! / 2;
    const side = (of: Tensor, which: 0 | 1, to: readonly number[]): Tensor => {
      const flat = this.tf.reshape(of, [-1, 2]) as Tensor2D;
      return this.tf.reshape(this.tf.slice(flat, [0, which], [-1, 1]), [...to]);
    };
    const halves = [...extents.slice(0, -1), pairs];
    const [a, b] = [side(x, 0, halves), side(x, 1, halves)];
    const angles = table.shape.slice(0, -1);
    const cos = side(table, 0, angles);
    const sin = inverse ? this.tf.neg(side(table, 1, angles)) : side(table, 1, angles);
    const first = this.tf.sub(this.tf.mul(a, cos), this.tf.mul(b, sin));
    const second = this.tf.add(this.tf.mul(a, sin), this.tf.mul(b, cos));
    return this.tf.reshape(
      this.tf.stack([this.tf.reshape(first, [-1]), this.tf.reshape(second, [-1])] as Tensor1D[], 1),
      extents,
    );
  }
  crossEntropy(logits: Tensor, target: Tensor): [Tensor, Tensor] {
    const z = this.tf.sub(logits, this.tf.max(logits, -1, true));
    const e = this.tf.exp(z);
    const s = this.tf.sum(e, -1, true);
    const loss = this.tf.sub(this.tf.reshape(this.tf.log(s), [-1]), this.pick(z, target));
    return [loss, this.tf.sub(this.tf.div(e, s), this.oneHot(target, logits.shape[1]!))];
  }
}
