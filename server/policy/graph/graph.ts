/** Emits the policy's operations as nodes of a TensorFlow graph. A value is the name of a node's output. */
import type { Dim, Ops } from "../ops.ts";
import { nodeProto, savedModelProto, type Attribute } from "./protobuf.ts";

const FLOAT = { type: "float" } as const;
const INT = { type: "int" } as const;
const COMPLEX = { type: "complex" } as const;

/** TensorFlow's own graph version for 2.9 and later that still accepts every operation used here. */
const PRODUCER = 1087;

export class Graph implements Ops<string> {
  private readonly nodes: Buffer[] = [];
  /** Equal constants and extents are one node. */
  private readonly known = new Map<string, string>();

  private node(
    operation: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
    name?: string,
  ): string {
    const own = name ?? `n${this.nodes.length}`;
    this.nodes.push(nodeProto(own, operation, inputs, attributes));
    return own;
  }
  private once(key: string, make: () => string): string {
    const found = this.known.get(key) ?? make();
    this.known.set(key, found);
    return found;
  }

  // ── the graph itself
  placeholder(name: string, dtype: "float" | "int", rank: number): string {
    const shape = Array.from({ length: rank }, () => -1);
    return this.node("Placeholder", [], { dtype: { type: dtype }, shape: { shape } }, name);
  }
  /** Gives a float value a name it can be fetched by. */
  output(name: string, value: string): void {
    this.node("Identity", [value], { T: FLOAT }, name);
  }
  serialize(): Buffer {
    return savedModelProto(this.nodes, PRODUCER);
  }

  // ── making
  floats(data: Float32Array, shape: readonly number[]): string {
    return this.node("Const", [], { dtype: FLOAT, value: { tensor: { dtype: "float", shape, data } } });
  }
  private ints(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.once(`i${shape.join()}:${values.join()}`, () =>
      this.node("Const", [], {
        dtype: INT,
        value: { tensor: { dtype: "int", shape, data: Int32Array.from(values) } },
      }),
    );
  }
  private integer(value: number): string {
    return this.ints([value], []);
  }
  private scalar(value: number): string {
    return this.once(`f${value}`, () => this.floats(Float32Array.of(value), []));
  }
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
  split(x: string, extents: readonly number[], axis: number): string[] {
    const node = this.node("SplitV", [x, this.ints(extents), this.integer(axis)], {
      T: FLOAT,
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
  cumsum(x: string): string {
    return this.node("Cumsum", [x, this.integer(-1)], {
      exclusive: { boolean: false },
      reverse: { boolean: false },
      T: FLOAT,
      Tidx: INT,
    });
  }
  countUpTo(x: string, bound: string): string {
    const below = this.binary("LessEqual", x, bound);
    const ones = this.node("Cast", [below], { SrcT: { type: "bool" }, DstT: INT });
    return this.node("Sum", [ones, this.ints([-1])], { keep_dims: { boolean: false }, T: INT, Tidx: INT });
  }

  // ── made for transformers
  futureMask(positions: string, n: Dim<string>, window?: number): string {
    const column = this.reshape(positions, [-1, 1], "int");
    const after = this.node("Greater", [this.range(n), column], { T: INT });
    const hidden =
      window === undefined ? after : this.node("LogicalOr", [after, this.past(column, n, window)], {});
    return this.scale(this.node("Cast", [hidden], { SrcT: { type: "bool" }, DstT: FLOAT }), -1e9);
  }
  private past(position: string, n: Dim<string>, window: number): string {
    const last = this.node("Sub", [position, this.integer(window)], { T: INT });
    return this.node("LessEqual", [this.range(n), last], { T: INT });
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
