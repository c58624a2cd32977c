/** Writes nodes of a TensorFlow graph: where each one goes, what is fed and fetched, and what a session keeps. */
import { nodeProto, savedModelProto, type Attribute, type DataTypeName } from "./protobuf.ts";

/** What floats are in a graph. Training runs in 32 bits; in 64, finite differences mean something. */
export type Precision = "float32" | "float64";

/** Element types of the 64-bit graph in place of those the operations below name. */
const WIDE: Partial<Record<DataTypeName, DataTypeName>> = { float: "double", complex: "complexDouble" };

export const FLOAT = { type: "float" } as const;
export const INT = { type: "int" } as const;
export const COMPLEX = { type: "complex" } as const;
const TEXT = { type: "text" } as const;

/** TensorFlow's own graph version for 2.9 and later that still accepts every operation used here. */
const PRODUCER = 1087;

/** What the nodes of a graph compute with and where. */
interface GraphOptions {
  readonly precision?: Precision;
  /** Every node is placed explicitly: on this device what computes, on the host what counts and indexes. */
  readonly device?: Device;
  /** Begins every node's name, so that several programs fit into one graph. */
  readonly prefix?: string;
}
export type Device = "CPU" | "GPU";

/** A node as it is before it is written. */
export interface Node {
  readonly name: string;
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly device: string | undefined;
}

/**
 * Integers are extents, indices and bits on their way: their kernels want host memory on a GPU, too. `Cast` and what
 * gives integers out of floats stays with the floats.
 */
function placed(
  device: Device | undefined,
  operation: string,
  attributes: Readonly<Record<string, Attribute>>,
): string | undefined {
  if (device === undefined) return undefined;
  const of = attributes["T"] ?? attributes["dtype"] ?? attributes["Tparams"];
  const element = of ?? (operation === "Range" ? attributes["Tidx"] : undefined);
  const onHost =
    operation === "DeleteSessionTensor" ||
    (element !== undefined && "type" in element && ["int", "text"].includes(element.type));
  return `/device:${onHost ? "CPU" : device}:0`;
}

/** A value is the name of a node's output. */
export class GraphWriter {
  readonly nodes: Node[] = [];
  /** Equal constants and extents are one node. */
  private readonly known = new Map<string, string>();
  private readonly precision: Precision;
  constructor(private readonly options: GraphOptions = {}) {
    this.precision = options.precision ?? "float32";
  }

  protected node(
    operation: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
    name?: string,
  ): string {
    const own = `${this.options.prefix ?? ""}${name ?? `n${this.nodes.length}`}`;
    const device = placed(this.options.device, operation, attributes);
    this.nodes.push({ name: own, operation, inputs, attributes: this.typed(attributes), device });
    return own;
  }
  private typed(attributes: Readonly<Record<string, Attribute>>): Readonly<Record<string, Attribute>> {
    if (this.precision === "float32") return attributes;
    const widened = Object.entries(attributes).map(([key, value]): [string, Attribute] => [
      key,
      "type" in value ? { type: WIDE[value.type] ?? value.type } : value,
    ]);
    return Object.fromEntries(widened);
  }
  protected once(key: string, make: () => string): string {
    const found = this.known.get(key) ?? make();
    this.known.set(key, found);
    return found;
  }

  // ── the graph itself
  /** The addon takes no 64-bit floats: they arrive, and leave, as pairs of integers. */
  placeholder(name: string, dtype: "float" | "int", rank: number): string {
    const pairs = dtype === "float" && this.precision === "float64";
    const shape = Array.from({ length: pairs ? rank + 1 : rank }, () => -1);
    const fed = this.node(
      "Placeholder",
      [],
      { dtype: { type: pairs ? "int" : dtype }, shape: { shape } },
      name,
    );
    return pairs ? this.node("Bitcast", [fed], { T: INT, type: FLOAT }) : fed;
  }
  /** Gives a float value a name it can be fetched by. */
  output(name: string, value: string): void {
    if (this.precision === "float64") this.node("Bitcast", [value], { T: FLOAT, type: INT }, name);
    else this.node("Identity", [value], { T: FLOAT }, name);
  }
  serialize(): Buffer {
    return serializeGraphs([this]);
  }

  // ── values that stay in the session (see resident.ts)
  /** A float value that the session keeps under a fed handle. */
  kept(name: string, rank: number | undefined): string {
    const handle = this.node("Placeholder", [], { dtype: TEXT, shape: { shape: [] } }, name);
    const value = this.node("GetSessionTensor", [handle], { dtype: FLOAT });
    if (rank === undefined) return value;
    const shape = Array.from({ length: rank }, () => -1);
    return this.node("EnsureShape", [value], { T: FLOAT, shape: { shape } });
  }
  /** Floats that are fed as the integers of the same bits: what the addon leaves in host memory. */
  bits(name: string, rank: number | undefined): string {
    const shape = rank === undefined ? {} : { shape: { shape: Array.from({ length: rank }, () => -1) } };
    const fed = this.node("Placeholder", [], { dtype: INT, ...shape }, name);
    return this.node("Bitcast", [fed], { T: INT, type: FLOAT });
  }
  /** Keeps a float value in the session; what is fetched is its handle. */
  keep(name: string, value: string): void {
    this.node("GetSessionHandle", [value], { T: FLOAT }, name);
  }
  outputBits(name: string, value: string): void {
    this.node("Bitcast", [value], { T: FLOAT, type: INT }, name);
  }
  outputShape(name: string, value: string): void {
    this.node("Shape", [value], { T: FLOAT, out_type: INT }, name);
  }
  /** Forgets `count` kept values: handles `name0`, `name1`, …; fetching `name` does it. */
  forget(name: string, count: number): void {
    const forgotten = Array.from({ length: count }, (_, index) => {
      const handle = this.node("Placeholder", [], { dtype: TEXT, shape: { shape: [] } }, `${name}${index}`);
      return `^${this.node("DeleteSessionTensor", [handle], {})}`;
    });
    this.node("Identity", [this.integer(count), ...forgotten], { T: INT }, name);
  }

  // ── making
  floats(data: Float32Array | Float64Array, shape: readonly number[]): string {
    const tensor =
      this.precision === "float64"
        ? ({ dtype: "double", shape, data: Float64Array.from(data) } as const)
        : ({ dtype: "float", shape, data: Float32Array.from(data) } as const);
    return this.node("Const", [], { dtype: FLOAT, value: { tensor } });
  }
  protected ints(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.once(`i${shape.join()}:${values.join()}`, () =>
      this.node("Const", [], {
        dtype: INT,
        value: { tensor: { dtype: "int", shape, data: Int32Array.from(values) } },
      }),
    );
  }
  protected integer(value: number): string {
    return this.ints([value], []);
  }
  protected scalar(value: number): string {
    return this.once(`f${value}`, () => this.floats(Float64Array.of(value), []));
  }
}

/** One SavedModel of several graphs, whose prefixes keep their names apart. */
export function serializeGraphs(graphs: readonly GraphWriter[]): Buffer {
  const nodes = graphs.flatMap((graph) => graph.nodes);
  const written = nodes.map(({ name, operation, inputs, attributes, device }) =>
    nodeProto(name, operation, inputs, attributes, device),
  );
  return savedModelProto(written, PRODUCER);
}
