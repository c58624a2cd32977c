/** Emits the policy's operations as nodes of a TensorFlow graph. */
import type { Dim, Ops } from "../../core/ops.ts";
import { COMPLEX, FLOAT, GraphWriter, INT } from "./writer.ts";

export class Graph extends GraphWriter implements Ops<string> {
  // ── extents
  private extent(dim: Dim<string>): string {
    return typeof dim === "number" ? this.integer(dim) : dim;
  }
  private extents(shape: readonly Dim<string>[]): string {
    const numbers = shape.filter((dim) => typeof dim === "number");
    if (numbers.length === shape.length) return this.ints(numbers);
    const parts = shape.map((dim) => this.extent(dim));
    return this.once(`shape${parts.join()}`, () =>
      this.node("Pack", parts, { T: INT, N: { integer: parts.length }, axis: { integer: 0 } }),
    );
  }
  range(n: Dim<string>): string {
    return this.once(`range${n}`, () =>
      this.node("Range", [this.integer(0), this.extent(n), this.integer(1)], { Tidx: INT }),
    );
  }
  zeros(shape: readonly Dim<string>[]): string {
    return this.node("Fill", [this.extents(shape), this.scalar(0)], { T: FLOAT, index_type: INT });
  }

  dropoutMask(rows: Dim<string>, columns: number, rate: number, seed: string, salt: number): string {
    const own = this.node("AddV2", [seed, this.ints([0, salt])], { T: INT });
    const uniform = this.node("StatelessRandomUniform", [this.extents([rows, columns]), own], {
      dtype: FLOAT,
      T: INT,
      Tseed: INT,
    });
    const keeps = this.node("GreaterEqual", [uniform, this.scalar(rate)], { T: FLOAT });
    return this.scale(this.node("Cast", [keeps], { SrcT: { type: "bool" }, DstT: FLOAT }), 1 / (1 - rate));
  }

  // ── shapes
  size(x: string, axis: number, dtype: "float" | "int" = "float"): Dim<string> {
    const all = this.once(`shape of ${x}`, () =>
      this.node("Shape", [x], { T: { type: dtype }, out_type: INT }),
    );
    return this.once(`${all}[${axis}]`, () =>
      this.node("GatherV2", [all, this.integer(axis), this.integer(0)], {
        Tparams: INT,
        Tindices: INT,
        Taxis: INT,
      }),
    );
  }
  dim(x: string): Dim<string> {
    return x;
  }
  reshape(x: string, shape: readonly Dim<string>[], dtype: "float" | "int" = "float"): string {
    return this.node("Reshape", [x, this.extents(shape)], { T: { type: dtype }, Tshape: INT });
  }
  transpose(x: string, order: readonly number[]): string {
    return this.node("Transpose", [x, this.ints(order)], { T: FLOAT, Tperm: INT });
  }
  concat(xs: readonly string[], axis: number): string {
    return this.node("ConcatV2", [...xs, this.integer(axis)], {
      T: FLOAT,
      N: { integer: xs.length },
      Tidx: INT,
    });
  }
  split(x: string, extents: readonly number[], axis: number, dtype: "float" | "int" = "float"): string[] {
    const node = this.node("SplitV", [x, this.ints(extents), this.integer(axis)], {
      T: { type: dtype },
      Tlen: INT,
      num_split: { integer: extents.length },
    });
    return extents.map((_, index) => `${node}:${index}`);
  }

  // ── looking up
  gather(table: string, index: string): string {
    return this.node("GatherV2", [table, index, this.integer(0)], {
      Tparams: FLOAT,
      Tindices: INT,
      Taxis: INT,
    });
  }
  segmentSum(x: string, index: string, segments: number): string {
    return this.node("UnsortedSegmentSum", [x, index, this.integer(segments)], {
      T: FLOAT,
      Tindices: INT,
      Tnumsegments: INT,
    });
  }
  pick(x: string, index: string): string {
    const column = this.reshape(index, [-1, 1], "int");
    const found = this.node("GatherV2", [x, column, this.integer(1)], {
      Tparams: FLOAT,
      Tindices: INT,
      Taxis: INT,
      batch_dims: { integer: 1 },
    });
    return this.reshape(found, [-1]);
  }
  writeRows(cache: string, rows: string, values: string): string {
    return this.node("InplaceUpdate", [cache, rows, values], { T: FLOAT });
  }

  // ── products
  matmul(a: string, b: string, transposeA = false, transposeB = false): string {
    return this.node("MatMul", [a, b], {
      transpose_a: { boolean: transposeA },
      transpose_b: { boolean: transposeB },
      T: FLOAT,
    });
  }
  batchMatmul(a: string, b: string, transposeA = false, transposeB = false): string {
    return this.node("BatchMatMulV2", [a, b], {
      adj_x: { boolean: transposeA },
      adj_y: { boolean: transposeB },
      T: FLOAT,
    });
  }
  /** The third version is the faster one for products of a row, the second for larger ones. */
  batchMatmulThin(a: string, b: string, transposeB: boolean): string {
    return this.node("BatchMatMulV3", [a, b], {
      adj_x: { boolean: false },
      adj_y: { boolean: transposeB },
      Ta: FLOAT,
      Tb: FLOAT,
      Tout: FLOAT,
    });
  }

  // ── element by element
  private unary(operation: string, x: string): string {
    return this.node(operation, [x], { T: FLOAT });
  }
  private binary(operation: string, a: string, b: string): string {
    return this.node(operation, [a, b], { T: FLOAT });
  }
  add = (a: string, b: string): string => this.binary("AddV2", a, b);
  sub = (a: string, b: string): string => this.binary("Sub", a, b);
  mul = (a: string, b: string): string => this.binary("Mul", a, b);
  div = (a: string, b: string): string => this.binary("RealDiv", a, b);
  minimum = (a: string, b: string): string => this.binary("Minimum", a, b);
  maximum = (a: string, b: string): string => this.binary("Maximum", a, b);
  scale = (x: string, by: number): string => this.mul(x, this.scalar(by));
  shift = (x: string, by: number): string => this.add(x, this.scalar(by));
  neg = (x: string): string => this.unary("Neg", x);
  exp = (x: string): string => this.unary("Exp", x);
  log = (x: string): string => this.unary("Log", x);
  square = (x: string): string => this.unary("Square", x);
  sqrt = (x: string): string => this.unary("Sqrt", x);
  rsqrt = (x: string): string => this.unary("Rsqrt", x);
  sign = (x: string): string => this.unary("Sign", x);
  sigmoid = (x: string): string => this.unary("Sigmoid", x);
  softmax = (x: string): string => this.unary("Softmax", x);
  sigmoidGradient = (s: string, dy: string): string => this.binary("SigmoidGrad", s, dy);
  addAll(xs: readonly string[]): string {
    const [first] = xs;
    if (xs.length === 1 && first !== undefined) return first;
    return this.node("AddN", xs, { T: FLOAT, N: { integer: xs.length } });
  }
  toFloat(x: string): string {
    return this.node("Cast", [x], { SrcT: INT, DstT: FLOAT });
  }

  // ── along the last axis
  private reduce(operation: string, x: string, axis: number, keep: boolean): string {
    return this.node(operation, [x, this.ints([axis])], {
      keep_dims: { boolean: keep },
      T: FLOAT,
      Tidx: INT,
    });
  }
  sum = (x: string): string => this.reduce("Sum", x, -1, true);
  mean = (x: string): string => this.reduce("Mean", x, -1, true);
  max = (x: string): string => this.reduce("Max", x, -1, true);
  sumAxis = (x: string, axis: number, keep = false): string => this.reduce("Sum", x, axis, keep);
  sumEverything = (x: string): string => this.reduce("Sum", this.reshape(x, [-1]), 0, false);
  argmax(x: string): string {
    return this.node("ArgMax", [x, this.integer(-1)], { T: FLOAT, Tidx: INT, output_type: INT });
  }
  cumsum(x: string, exclusive = false): string {
    return this.node("Cumsum", [x, this.integer(-1)], {
      exclusive: { boolean: exclusive },
      reverse: { boolean: false },
      T: FLOAT,
      Tidx: INT,
    });
  }
  countUpTo(x: string, bound: string): string {
    const below = this.binary("LessEqual", x, bound);
    // Counted in floats: a GPU sums integers on the host only.
    const ones = this.node("Cast", [below], { SrcT: { type: "bool" }, DstT: FLOAT });
    return this.node("Cast", [this.reduce("Sum", ones, -1, false)], { SrcT: FLOAT, DstT: INT });
  }
  lastBelow(x: string, bound: string): string {
    const below = this.indicator(this.binary("Less", x, bound));
    const last = this.shift(this.reduce("Sum", below, -1, false), -1);
    return this.node("Cast", [this.maximum(last, this.scalar(0))], { SrcT: FLOAT, DstT: INT });
  }
  topK(x: string, k: Dim<string>): [string, string] {
    const node = this.node("TopKV2", [x, this.extent(k)], { sorted: { boolean: true }, T: FLOAT });
    return [node, `${node}:1`];
  }
  keepFrom(x: string, cut: string, column: string): string {
    const columns = this.toFloat(this.range(this.size(x, 1)));
    const early = this.binary("LessEqual", columns, column);
    const tied = this.node("LogicalAnd", [this.binary("Equal", x, cut), early], {});
    return this.indicator(this.node("LogicalOr", [this.binary("Greater", x, cut), tied], {}));
  }
  atLeast(x: string, bound: string): string {
    return this.indicator(this.binary("GreaterEqual", x, bound));
  }
  private indicator(condition: string): string {
    return this.node("Cast", [condition], { SrcT: { type: "bool" }, DstT: FLOAT });
  }

  // ── made for transformers
  futureMask(positions: string, n: Dim<string>, window?: number): string {
    // Compared as floats: a GPU compares integers on the host only.
    const [row, column] = [
      this.toFloat(this.range(n)),
      this.toFloat(this.reshape(positions, [-1, 1], "int")),
    ];
    const hidden = (truth: string): string =>
      this.scale(this.node("Cast", [truth], { SrcT: { type: "bool" }, DstT: FLOAT }), -1e9);
    const future = hidden(this.binary("Greater", row, column));
    if (window === undefined) return future;
    return this.add(future, hidden(this.binary("LessEqual", row, this.shift(column, -window))));
  }
  /** A pair is a complex number and a rotation one complex product: one pass over the data. */
  rotate(x: string, shape: readonly Dim<string>[], table: string, inverse: boolean): string {
    const width = shape.at(-1);
    if (typeof width !== "number") throw new Error("internal: the width of a head is fixed");
    const complex = this.node("Bitcast", [this.reshape(x, [...shape.slice(0, -1), width / 2, 2])], {
      T: FLOAT,
      type: COMPLEX,
    });
    const turn = this.once(`turn ${table} ${inverse}`, () => {
      const angle = this.node("Bitcast", [table], { T: FLOAT, type: COMPLEX });
      return inverse ? this.node("Conj", [angle], { T: COMPLEX }) : angle;
    });
    const turned = this.node("Mul", [complex, turn], { T: COMPLEX });
    return this.reshape(this.node("Bitcast", [turned], { T: COMPLEX, type: FLOAT }), shape);
  }
  crossEntropy(logits: string, target: string): [string, string] {
    const node = this.node("SparseSoftmaxCrossEntropyWithLogits", [logits, target], {
      T: FLOAT,
      Tlabels: INT,
    });
    return [node, `${node}:1`];
  }
}
